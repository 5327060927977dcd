// `show`: the plan of a configuration, before anything runs.
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { planReport } from "../../kv/build-report.js";
import { planJson, planText } from "../../report/plan-text.js";
import { loadConfigs } from "../../workload/configs.js";
import { readInputs } from "../../workload/read-inputs.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { configurationNamed } from "../configuration.js";
import type { Session } from "../session.js";

interface ShowFlags {
  readonly plan?: string;
}

const HELP = `
CONFIG is a preset (such as gpt-oss-120b or inkling), a .json file in the model form or in the
direct form, or a name of scenarios/configs.json. A preset alone is planned for pages of 16 tokens,
16 GiB and 64 requests; a file says what it wants. A configuration that boot would refuse is a
finding: the rule and the reason are printed, exit code 1.

Examples:
  unified-trace show --plan gpt-oss-120b
  unified-trace show --plan my-model.json --json`;

/** @internal */
export function addShow(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Print the plan of a configuration: who shares the arena, and how it is cut.")
    .option("--plan <config>", "a preset, a file in either form, or a named geometry (required)")
    .option("--json", "print one JSON document");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async ({ plan }: ShowFlags) => {
        if (plan === undefined) throw new UsageError("show needs --plan CONFIG");
        const inputs = await readInputs([plan], session.signal);
        const planned = planReport(configurationNamed(plan, "--plan", loadConfigs(), inputs));
        if (session.isJson) session.printJson(planJson(plan, planned));
        else session.print(planText(plan, planned, session.palette));
        return "refusal" in planned ? EXIT.finding : EXIT.ok;
      }),
    );
}
