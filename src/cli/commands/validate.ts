// `validate`: schema and structure of traces and scenario files.
import type { Command } from "commander";
import { InputError, InternalError, UnifiedTraceError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { validateJson } from "../../report/json.js";
import type { FileVerdict } from "../../report/json.js";
import { validateText } from "../../report/validate-text.js";
import { validateTrace } from "../../trace/validate.js";
import type { ReadInputs } from "../../workload/json-file.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { visible } from "../../report/words.js";
import type { Session } from "../session.js";

const HELP = `
Files that end in .json are scenarios or configurations, one alone or named ones as in configs.json:
their keys tell. All others are traces (.jsonl, .jsonl.gz, or - for standard input). Every file is
read to its first mistake, which is named with file, line, column, rule and the nearest valid word.

Examples:
  unified-trace validate base.jsonl
  unified-trace validate scenarios/*.json real.jsonl.gz --json`;

/** @internal */
export function addValidate(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Check the schema and structure of traces, scenarios and configurations.")
    .option("--json", "print one JSON document");
  addReadingFlags(command);
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async (files: readonly string[], flags: ReadingFlags) => {
        const verdicts: FileVerdict[] = [];
        for (const file of files) {
          verdicts.push(await check(file, flags, session));
          session.signal.throwIfAborted();
        }
        if (session.isJson) session.printJson(validateJson(verdicts));
        else printText(verdicts, session);
        return worstExit(verdicts.map(exitOf));
      }),
    );
}

function printText(verdicts: readonly FileVerdict[], session: Session): void {
  for (const { error } of verdicts) {
    if (error !== null) session.note(`unified-trace: ${visible(error.describe())}`);
  }
  session.print(validateText(verdicts, session.palette));
}

function exitOf({ error, isPartial }: FileVerdict): number {
  if (error !== null) return error.exitCode;
  return isPartial ? EXIT.incomplete : EXIT.ok;
}

async function check(file: string, flags: ReadingFlags, session: Session): Promise<FileVerdict> {
  try {
    if (!file.endsWith(".json")) return await checkTrace(file, flags, session);
    const { readInputs } = await import("../../workload/read-inputs.js");
    const inputs = await readInputs([file], session.signal);
    const { jsonFileKind } = await import("../../workload/configs.js");
    const kind = jsonFileKind(file, inputs);
    return kind === "scenario"
      ? await checkScenario(file, inputs)
      : await checkConfigs(file, kind, inputs);
  } catch (thrown) {
    if (!(thrown instanceof UnifiedTraceError) || thrown instanceof InternalError) throw thrown;
    return { file, kind: "unknown", runs: 0, operations: 0, isPartial: false, error: thrown };
  }
}

async function checkTrace(
  file: string,
  flags: ReadingFlags,
  session: Session,
): Promise<FileVerdict> {
  const summary = await validateTrace(file, readerOptions(flags, session));
  const { runs, operations, ignoredKeys, truncated } = summary;
  const error =
    operations > 0
      ? null
      : new InputError("trace_structure", "holds no operation, so nothing was validated", { file });
  const isPartial = truncated !== null || ignoredKeys > 0;
  return { file, kind: "trace", runs, operations, isPartial, error };
}

async function checkConfigs(
  file: string,
  kind: "configuration" | "configurations",
  inputs: ReadInputs,
): Promise<FileVerdict> {
  const { loadConfigFile, loadConfigs } = await import("../../workload/configs.js");
  let runs = 1;
  if (kind === "configuration") loadConfigFile(file, inputs);
  else {
    const { names, ruleNames } = loadConfigs(file, inputs);
    runs = names.length + ruleNames.length;
  }
  return { file, kind: "configurations", runs, operations: 0, isPartial: false, error: null };
}

async function checkScenario(file: string, inputs: ReadInputs): Promise<FileVerdict> {
  const { loadScenarios } = await import("../../workload/scenario.js");
  const scenarios = loadScenarios([file], inputs);
  let operations = 0;
  let error: InputError | null = null;
  for (const { ops, invalid } of scenarios) {
    operations += ops.length;
    if (invalid === null) continue;
    const message = `operation ${invalid.index}: ${invalid.message}`;
    error ??= new InputError("scenario", message, { file });
  }
  return { file, kind: "scenario", runs: scenarios.length, operations, isPartial: false, error };
}
