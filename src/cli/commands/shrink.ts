// `shrink`: a divergent or failing run down to a minimal scenario file.
import type { Command } from "commander";
import { InputError, UsageError } from "../../base/errors.js";
import { EXIT } from "../../base/exit-codes.js";
import { nothingToShrinkJson, shrinkJson } from "../../report/shrink-json.js";
import { lookedText, shrinkText } from "../../report/shrink-text.js";
import { counted } from "../../report/words.js";
import type { Looked } from "../../tools/shrink/case.js";
import { scenarioInput, traceInput } from "../../tools/shrink/inputs.js";
import type { ShrinkSides } from "../../tools/shrink/inputs.js";
import { shrinkToFile } from "../../tools/shrink/shrink-to-file.js";
import type { ShrinkReport } from "../../tools/shrink/shrink-to-file.js";
import { readJsonFile } from "../../workload/json-file.js";
import { readInputs } from "../../workload/read-inputs.js";
import type { ReadInputs } from "../../workload/json-file.js";
import { loadScenarios } from "../../workload/scenario.js";
import type { Scenario } from "../../workload/scenario.js";
import { addSharedFlags, afterHelp, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { seconds, shellWord, wholeNumber } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { savedReport } from "../saved-report.js";
import type { Session } from "../session.js";

interface ShrinkFlags extends ImplementationFlags, ReadingFlags {
  readonly out?: string;
  readonly run?: string;
  readonly candidate?: string;
  readonly impl?: string;
  readonly timeBudget?: number; // seconds
  readonly jobs: number;
}

const HELP = `
FILE is a trace (the first of its runs that fails, or --run ID), a scenario, a shrunk case, or a
report saved from compare --json or run --json.

A shortened run has no recorded answers, so two implementations answer it: --candidate, which is
at fault (default: self), and --impl, which is right (default: self, and reference where the
candidate is self). A trace is shrunk to where the two part. A scenario is shrunk to its failing
expectation, which the second one must still meet, or to what broke.

First the failure must repeat (else exit 7). Then whole requests, operations, entries, arguments
and the configuration get smaller while the failure keeps its kind, operation and component. The
case is written after every improvement; after an interrupt the same command goes on from it. It
is a scenario: run shows it. Other failures met on the way stand beside it as CASE.second-N.json.
Where --out is a folder, it keeps the three smallest cases of each failure.

Examples:
  unified-trace shrink base.jsonl --candidate module:examples/lifo-holes.mjs --out case.json
  unified-trace shrink base.jsonl --run live-7 --impl checkout:../old --out case.json
  unified-trace shrink scenarios/state_slots_exhausted.json --candidate cmd:./mine --out case.json
  unified-trace run case.json --impl module:examples/lifo-holes.mjs`;

/** @internal */
export function addShrink(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Reduce a divergent or failing run to a minimal scenario file.")
    .option("--out <case>", "the scenario file to write, or a folder for it (required)")
    .option("--run <id>", "the run of a trace; the configuration of a scenario")
    .option("--candidate <implementation>", `at fault: ${IMPLEMENTATION_FORMS} (default: self)`)
    .option(
      "--impl <implementation>",
      "right: the base of the comparison (default: self, or reference)",
    )
    .option("--time-budget <seconds>", "stop with the smallest so far", seconds("--time-budget"))
    .option("--jobs <n>", "cases judged at once", wholeNumber("--jobs", 1, 64), 1)
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "every"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, (file: string, flags: ShrinkFlags) => shrinkCommand(file, flags, session)),
    );
}

interface Named {
  readonly file: string;
  readonly run: string | null;
  readonly candidate: string;
  readonly base: string;
}

async function shrinkCommand(file: string, flags: ShrinkFlags, session: Session): Promise<number> {
  const { out } = flags;
  if (out === undefined) throw new UsageError("shrink needs --out CASE.json (or a folder)");
  if (out === "-") throw new UsageError("--out -: a case is written again and again: name a file");
  const inputs = await readInputs(
    [file].filter((path) => !isTrace(path)),
    session.signal,
  );
  const { named, scenario } = isTrace(file)
    ? { named: sidesOf(file, flags.run ?? null, flags, {}), scenario: null }
    : namedByFile(file, inputs, flags);
  const start = starterOf(named.candidate, flags, session);
  const sides: ShrinkSides = {
    candidate: start,
    base: starterOf(named.base, flags, session),
    isSame: named.candidate === named.base,
    signal: session.signal,
  };
  const input =
    scenario === null
      ? await traceInput(named.file, named.run, sides, readerOptions(flags, session))
      : await scenarioInput(scenario, sides, named.run);
  if (!("running" in input)) return tellNothing(named, input, session);
  const { base, candidate } = named;
  const report = await shrinkToFile({
    ...control(flags, session),
    input,
    out,
    names: { base, candidate },
    start,
  });
  return print(report, named, flags, session);
}

function isTrace(file: string): boolean {
  return file === "-" || /\.jsonl(\.gz|\.zst)?$/.test(file);
}

/** What a JSON file means: a report names a trace or a scenario and who answered it. */
function namedByFile(
  file: string,
  inputs: ReadInputs,
  flags: ShrinkFlags,
): { named: Named; scenario: Scenario | null } {
  const report = savedReport(readJsonFile(file, inputs), flags.run ?? null);
  if (report?.kind === "trace") {
    return { named: sidesOf(report.file, report.run, flags, report), scenario: null };
  }
  const path = report?.file ?? file;
  const [scenario] = loadScenarios([path], inputs);
  if (scenario === undefined) throw new InputError("scenario", "holds no scenario", { file: path });
  const run = report === null ? (flags.run ?? null) : report.run;
  const { candidate, base } = scenario.found ?? {};
  const known = {
    ...(candidate === undefined ? {} : { candidate }),
    ...(base === undefined ? {} : { base }),
  };
  return { named: sidesOf(path, run, flags, known), scenario };
}

function sidesOf(
  file: string,
  run: string | null,
  flags: ShrinkFlags,
  known: { readonly candidate?: string; readonly base?: string },
): Named {
  const candidate = flags.candidate ?? known.candidate ?? "self";
  const other = candidate.split(":")[0] === "self" ? "reference" : "self";
  const base = flags.impl ?? (flags.candidate === undefined ? known.base : undefined) ?? other;
  return { file, run, candidate, base };
}

function control(
  flags: ShrinkFlags,
  session: Session,
): Pick<Parameters<typeof shrinkToFile>[0], "jobs" | "signal" | "isTimeOver" | "onProgress"> {
  const end = performance.now() + (flags.timeBudget ?? Infinity) * 1000;
  return {
    jobs: flags.jobs,
    signal: session.signal,
    isTimeOver: () => performance.now() > end,
    onProgress: ({ operations, tried }) => {
      const size = counted(operations, "operation");
      session.progress.show(`${size} left, ${counted(tried, "candidate")} tried`);
    },
  };
}

function tellNothing({ file, candidate, base }: Named, looked: Looked, session: Session): number {
  const message = `nothing fails in ${file}: ${candidate} and ${base} agree`;
  if (session.isJson) session.printJson(nothingToShrinkJson(message, looked));
  else session.print(`not repeated: ${message}; ${lookedText(looked)}`);
  return EXIT.notRepeated;
}

function print(
  report: ShrinkReport,
  { candidate }: Named,
  flags: ShrinkFlags,
  session: Session,
): number {
  const { written, isShownByRun, result } = report;
  const words = ["unified-trace", "run", shellWord(written?.file ?? ""), "--impl"];
  if (flags.timeout !== undefined) words.splice(3, 0, "--timeout", String(flags.timeout));
  const command =
    written === null || isShownByRun !== true ? null : [...words, shellWord(candidate)].join(" ");
  if (session.isJson) session.printJson(shrinkJson(report));
  else session.print(shrinkText(report, session.palette, command));
  if (result.kind === "not repeated" || report.isAlone === false) return EXIT.notRepeated;
  if (result.stopped === "interrupted") {
    session.tellInterrupt(`with ${counted(result.best.case.ops.length, "operation")} left`);
  }
  return EXIT.ok;
}
