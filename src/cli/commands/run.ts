// `run`: scenarios against what they expect, or a serving workload without writing a trace.
import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Option } from "commander";
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { runFromJson } from "../../report/from-json.js";
import { runJson } from "../../report/json.js";
import { runCases } from "../../report/run-cases.js";
import { runText } from "../../report/run-text.js";
import type { RunResult } from "../../tools/outcome.js";
import type { ImplementationData } from "../../tools/parallel/part.js";
import { runScenarios, SAVED_FOLDER } from "../../tools/run-scenarios.js";
import type { RunScenariosOptions } from "../../tools/run-scenarios.js";
import type { StartAdapter } from "../../tools/candidate.js";
import type { ToolControl } from "../../tools/pulse.js";
import { runWorkloads } from "../../tools/run-workload.js";
import { readInputs } from "../../workload/read-inputs.js";
import { loadScenarios } from "../../workload/scenario.js";
import type { Scenario } from "../../workload/scenario.js";
import { CASES_HTML_FLAG, checkCasesHtml } from "../cases-html.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { seconds, shardPart, unknownWord, wholeNumber } from "../flags.js";
import type { Shard } from "../flags.js";
import {
  addImplementationFlags,
  IMPLEMENTATION_FORMS,
  implementationData,
  starterOf,
} from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { inPackage } from "../place.js";
import {
  addReportFlags,
  checkReportFlags,
  giveReports,
  readReport,
  REPORT_HELP,
} from "../reports.js";
import type { ReportFlags } from "../reports.js";
import { addServingFlags, servingWorkloads, WORKLOAD_FLAGS } from "../serving-selection.js";
import type { ServingFlags } from "../serving-selection.js";
import type { Session } from "../session.js";

interface RunFlags extends ServingFlags, ImplementationFlags, ReportFlags {
  readonly impl: string;
  readonly html?: string;
  readonly report?: string;
  readonly shard?: Shard;
  readonly timeBudget?: number; // seconds
  readonly jobs?: number;
  readonly coverage?: boolean;
  readonly floor?: number; // percent
}

const SCENARIOS = "scenarios";
const VERDICT_EXITS: Readonly<Record<RunResult["verdict"], number>> = {
  passed: EXIT.ok,
  failed: EXIT.finding,
  invalid: EXIT.badFile,
  incomplete: EXIT.incomplete,
  short: EXIT.finding,
};

const HELP = `
A scenario passes when every answer is what it expects, refusals and questions changed nothing, no
page lost what was written to it, the auditor finds no rule broken, and what its "finally" says
holds. Files of a folder named cases, and of ./cases where there is one, run first, then those with
the most operations; they are told in the order in which they were named. Where there is no folder
scenarios, the word stands for the scenarios of this package. What --shard leaves to other parts,
and what --time-budget does not reach, is left out: then the verdict is incomplete. A workload that
is under way when the time is over ends with the next request that is served, and tells how many
were. Its requests wait for each other: --jobs says nothing there, and --shard deals out its runs,
one for each of the --layouts and --page-sizes.

--coverage says what the scenarios together exercise, counted as they run: operation kinds (granted
10 times, and with an effect where they have any), refusals, broken rules, effects, and of self the
steps of relief and the cells of the clearance table. It is on where a folder is named, unless
--shard takes a part of it. Counts of parts add up to those of the whole, so --floor, which asks for
a share of it, goes with no --shard.

Examples:
  unified-trace run scenarios
  unified-trace run scenarios/state_slots_exhausted.json --config full+state/p1
  unified-trace run scenarios --impl checkout:../other --json
  unified-trace run scenarios --jobs 2
  unified-trace run scenarios --shard 1/4 --time-budget 60
  unified-trace run scenarios --floor 100
  unified-trace run scenarios --junit build/scenarios.xml --github
  unified-trace run scenarios --impl checkout:../other --html failures.html
  unified-trace run --report saved.json --markdown report.md
  unified-trace run --workload synthetic --layouts full+window --page-sizes 16,64
  unified-trace run --workload synthetic --requests 100000 --time-budget 60
  unified-trace run --workload kv-cache-tester:sessions.jsonl.gz --limit 500 --prefix-sharing
  unified-trace run --workload csv:mine.csv --columns arrival=ts:s,input=prompt,output=answer`;

/** @internal */
export function addRun(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Run scenario files and folders against what they expect, or a serving workload.")
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self");
  addServingFlags(command);
  addReportFlags(addImplementationFlags(command, "every"))
    .addOption(
      new Option(
        "--shard <i/n>",
        "only part I of N, from 1; parts cost about the same (exit 6)",
      ).argParser(shardPart("--shard")),
    )
    .option(
      "--jobs <n>",
      "scenarios run at once, on threads (default: 1)",
      wholeNumber("--jobs", 1, 64),
    )
    .option(
      "--time-budget <seconds>",
      "begin no run after that; a workload ends with its next request (exit 6)",
      seconds("--time-budget"),
    )
    .option("--html <file>", CASES_HTML_FLAG)
    .option("--coverage", "what the scenarios together exercise, by table (default: for folders)")
    .option("--no-coverage", "do not count it")
    .option(
      "--floor <percent>",
      "exit 1 where the coverage is below this share",
      wholeNumber("--floor", 0, 100),
    )
    .option("--report <file>", "print a saved report (--json) in another form, run nothing")
    .option("--json", "print one JSON document");
  addSharedFlags(command)
    .addHelpText("after", afterHelp(`${HELP}\n\n${REPORT_HELP}`))
    .action(
      settle(outcome, async (paths: readonly string[], flags: RunFlags, self: Command) => {
        const read = [...paths, flags.report];
        checkReportFlags(flags, session, read);
        checkCasesHtml(flags.html, flags, [...read, fileOfWorkload(flags)]);
        const ran =
          flags.report === undefined
            ? await run(paths, flags, self, session)
            : {
                result: runFromJson(await readReport(flags.report, paths, self, session)),
                scenarios: [],
              };
        const { result } = ran;
        const forms = {
          text: () => runText(result, session.palette, session.isVerbose),
          json: () => runJson(result),
          cases: () => runCases(result),
        };
        const code = giveReports(flags, forms, VERDICT_EXITS[result.verdict], session);
        const { html } = flags;
        if (html === undefined) return code;
        const { giveRunPage } = await import("../run-html.js");
        return worstExit([code, await giveRunPage({ ...flags, html }, ran, session)]);
      }),
    );
}

/** What was run, and the scenarios where it was those. */
interface Ran {
  readonly result: RunResult;
  readonly scenarios: readonly Scenario[];
}

function fileOfWorkload({ workload }: RunFlags): string | undefined {
  return workload?.slice(workload.indexOf(":") + 1);
}

async function run(
  paths: readonly string[],
  flags: RunFlags,
  command: Command,
  session: Session,
): Promise<Ran> {
  if (flags.floor !== undefined && flags.coverage === false)
    throw new UsageError("--floor: not with --no-coverage");
  if (flags.floor !== undefined && flags.shard !== undefined)
    throw new UsageError("--floor: not with --shard, a part reaches less than the whole");
  const start = starterOf(flags.impl, flags, session);
  const control = { signal: session.signal, onProgress: progressOf(session, "run") };
  const given = (name: string): boolean => command.getOptionValueSource(name) === "cli";
  if (flags.workload !== undefined) {
    if (paths.length > 0) throw new UsageError("--workload and scenario files exclude each other");
    return { result: await serve(flags, start, control, session), scenarios: [] };
  }
  for (const [name, flag] of [
    ...WORKLOAD_FLAGS,
    ["pageSizes", "--page-sizes"],
    ["layouts", "--layouts"],
  ] as const) {
    if (given(name)) throw new UsageError(`${flag} goes with --workload`);
  }
  if (paths.length === 0) {
    throw new UsageError("nothing to run: name scenario files or folders, or --workload NAME:FILE");
  }
  const files = withCasesFirst(paths).map((path) => inPlace(path, session));
  const scenarios = loadScenarios(files, await readInputs(files, session.signal));
  const read = scenarios.map(({ file }) => file); // also those of a folder
  checkReportFlags(flags, session, read);
  checkCasesHtml(flags.html, flags, read);
  const config = flags.config ?? null;
  if (config !== null) refuseUnknownConfig(config, scenarios);
  const { shard, timeBudget, jobs = 1 } = flags;
  const plan = {
    ...{ scenarios, config, ...control },
    ...(shard === undefined ? {} : { shard }),
    ...(isCounted(flags, files) ? { coverage: { floor: flags.floor ?? null } } : {}),
    isTimeOver: clockOf(timeBudget),
  };
  const result =
    jobs === 1
      ? await runScenarios({ ...plan, start })
      : await inThreads(plan, jobs, await implementationData(flags.impl, flags, session));
  if (shard !== undefined && result.scenarios.length === 0 && timeBudget === undefined)
    throw new UsageError("nothing to run: this shard has no scenario", "fewer parts");
  return { result, scenarios };
}

/** Whether coverage is counted: where it was asked for, and of folders, which hold many scenarios for the sake of it. */
function isCounted({ coverage, floor, shard }: RunFlags, files: readonly string[]): boolean {
  const isCorpus = shard === undefined && files.some((file) => statSync(file).isDirectory());
  return coverage ?? (floor !== undefined || isCorpus);
}

/** Whether the budget is spent, from now on. */
function clockOf(timeBudget: number | undefined): () => boolean {
  const end = performance.now() + (timeBudget ?? Infinity) * 1000;
  return () => performance.now() > end;
}

/** A workload, once for each of its layouts and page sizes. */
async function serve(
  flags: RunFlags,
  start: StartAdapter,
  control: ToolControl,
  session: Session,
): Promise<RunResult> {
  const { shard, timeBudget, jobs, coverage, floor } = flags;
  if (coverage === true || floor !== undefined)
    throw new UsageError("--coverage and --floor go with scenarios, not with --workload");
  if (jobs !== undefined)
    throw new UsageError(
      "--jobs goes with scenarios: the requests of a workload wait for each other, so it is one run on one thread",
    );
  const isTimeOver = clockOf(timeBudget);
  const workloads = [...(await servingWorkloads(flags, session))];
  if (shard !== undefined && workloads.length === 1)
    throw new UsageError(
      "--shard deals out runs, and this workload is one: its requests wait for each other",
      "several --layouts or --page-sizes make several runs",
    );
  const result = await runWorkloads({
    ...{ workloads, start, isTimeOver, ...control },
    ...(shard === undefined ? {} : { shard }),
  });
  if (shard !== undefined && result.scenarios.length === 0 && timeBudget === undefined)
    throw new UsageError("nothing to run: this shard has no run", "fewer parts");
  return result;
}

async function inThreads(
  plan: Omit<RunScenariosOptions, "start">,
  jobs: number,
  implementation: ImplementationData,
): Promise<RunResult> {
  const { runParallel } = await import("../../tools/parallel/run-parallel.js");
  return runParallel({ ...plan, jobs, implementation });
}

// Where the package is installed, `run scenarios` means the scenarios that came with it.
function inPlace(path: string, session: Session): string {
  if (/^(?:\.\/)?scenarios\/?$/.test(path) && !existsSync(path)) {
    const own = inPackage(SCENARIOS);
    session.note(
      `unified-trace: no folder ${SCENARIOS} here: running those of the package, ${own}`,
    );
    return own;
  }
  if (path.endsWith(".jsonl") || path.endsWith(".jsonl.gz") || path.endsWith(".jsonl.zst")) {
    throw new UsageError(
      `${path} is named as a trace, not as a scenario: compare --trace or replay --trace run it`,
    );
  }
  return path;
}

function withCasesFirst(paths: readonly string[]): string[] {
  const isCases = (path: string): boolean => basename(path) === SAVED_FOLDER;
  const others = paths.filter((path) => !isCases(path));
  const cases = paths.filter(isCases);
  if (cases.length === 0 && existsSync(SAVED_FOLDER)) cases.push(SAVED_FOLDER);
  return [...cases, ...others];
}

function refuseUnknownConfig(config: string, scenarios: readonly Scenario[]): void {
  const known = new Set<string>();
  for (const { configs } of scenarios) {
    for (const [name] of configs) if (name !== null) known.add(name);
  }
  if (!known.has(config)) unknownWord(`--config ${config}`, config, [...known]);
}
