// `show`: operations of a trace and the arena around them, or the plan of a configuration before anything runs.
import { type Command, Option } from "commander";
import { UsageError } from "../../base/errors.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { mayRepeat, wholeNumber } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS } from "../implementation.js";
import { HTML_FLAG } from "../html-page.js";
import { addReadingFlags } from "../reading.js";
import type { Session } from "../session.js";
import type { ShowFlags } from "../show-flags.js";

const HELP = `
FILE alone lists its operations, or its runs where there are several. --op N shows one operation:
what was asked and answered, its effects, and the page map before and after it, a lane a band over
the bytes of the arena. States come from the trace's state lines where there is one at N, else from
replaying on --impl what lies before N; where it does not answer as recorded, that is told instead
(exit 1). Of a heap it shows the objects in address space.

--step walks the run, on both sides with --candidate: next, previous, go N, continue to the next
--break, such as op=tokens.extend, request=r3, page=full:17, refused, differs, state=full.live>100.

CONFIG of --plan is a preset (such as gpt-oss-120b or inkling), a .json file in the model form or in
the direct form, or a name of scenarios/configs.json. A preset alone is planned for pages of 16
tokens, 16 GiB and 64 requests; a file says what it wants. A configuration that boot would refuse is
a finding: the rule and the reason are printed, exit code 1.

Examples:
  unified-trace show base.jsonl
  unified-trace show base.jsonl --run full+window/p16/seed-7 --from 40 --to 60
  unified-trace show base.jsonl --run full+window/p16/seed-7 --op 41
  unified-trace show base.jsonl --op 41 --state --candidate checkout:../other
  unified-trace show base.jsonl --step --break refused --candidate checkout:../other
  unified-trace show base.jsonl --run full+window/p16/seed-7 --html run.html
  unified-trace show --plan gpt-oss-120b`;

/** @internal */
export function addShow(command: Command, session: Session, outcome: CommandOutcome): void {
  const number = (flag: string): ((text: string) => number) => wholeNumber(flag);
  command
    .description("Show operations of a trace and the page map around them, or a plan.")
    .option("--run <id>", "the run (default: the first)")
    .option("--op <n>", "show this operation and the arena around it", number("--op"))
    .option("--state", "with --op: the full state after it as well")
    .option("--step", "walk the run, with commands from the terminal or a pipe (h: help)")
    .addOption(
      mayRepeat(
        new Option(
          "--break <spec>",
          "with --step: where continue stops, several times if need be",
        ).argParser(collect),
      ),
    )
    .option("--from <n>", "list operations from this one on", number("--from"))
    .option("--to <n>", "list operations up to this one", number("--to"))
    .addOption(
      new Option("--impl <implementation>", "tells the states that the trace lacks").default(
        "self",
      ),
    )
    .option("--candidate <implementation>", `a second side: ${IMPLEMENTATION_FORMS}`)
    .option("--html <file>", `${HTML_FLAG}; with --op it begins there`)
    .option("--plan <config>", "a preset, a file in either form, or a named geometry")
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async (file: string | undefined, flags: ShowFlags, own: Command) => {
        const { plan } = flags;
        if (file === undefined && plan === undefined)
          throw new UsageError("show needs FILE, a trace, or --plan CONFIG");
        if (file !== undefined && plan !== undefined)
          throw new UsageError("--plan CONFIG shows a configuration and takes no FILE");
        // Each form is loaded where it is meant.
        const forms = await import("../showing.js");
        const isGiven = (name: string): boolean => own.getOptionValueSource(name) === "cli";
        return file === undefined
          ? forms.showPlan(flags, isGiven, session)
          : forms.showFile(file, flags, isGiven, session);
      }),
    );
}

function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
