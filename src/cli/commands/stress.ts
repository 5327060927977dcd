// `stress`: the page-safety harness over seeds, or over one saved case.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { Option } from "commander";
import type { Command } from "commander";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { stressCases } from "../../report/stress-cases.js";
import { stressFromJson } from "../../report/stress-from-json.js";
import { replayedJson, stressJson } from "../../report/stress-json.js";
import { replayedText, stressText } from "../../report/stress-text.js";
import { PROFILE_WORDS } from "../../tools/stress/seed.js";
import { openDevice } from "../../device/open-device.js";
import type { StressDevice } from "../../tools/stress/run.js";
import { counted } from "../../report/words.js";
import { savedCases } from "../../tools/stress/cases.js";
import { asStress, replayCase, runStress } from "../../tools/stress/stress.js";
import type { StressFinding, StressResult } from "../../tools/stress/stress.js";
import { isLayout, LAYOUTS } from "../../workload/layouts.js";
import { loadScenarios } from "../../workload/scenario.js";
import type { Layout } from "../../workload/layouts.js";
import { CASES_HTML_FLAG, checkCasesHtml } from "../cases-html.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import {
  numberList,
  oneOf,
  seconds,
  seedRange,
  shardPart,
  shellWord,
  unknownWord,
  wholeNumber,
  wordList,
} from "../flags.js";
import type { SeedRange, Shard } from "../flags.js";
import { inPackage } from "../place.js";
import {
  addReportFlags,
  checkReportFlags,
  giveReports,
  readReport,
  REPORT_HELP,
} from "../reports.js";
import type { ReportFlags } from "../reports.js";
import { readRevision } from "../revision.js";
import type { Session } from "../session.js";
import type { StressFound } from "../stress-html.js";

interface StressFlags extends ReportFlags {
  readonly seeds: SeedRange;
  readonly ops: number;
  readonly layouts: readonly Layout[];
  readonly pageSizes: readonly number[];
  readonly profile: string;
  readonly deep?: boolean;
  readonly jobs: number;
  readonly shard?: Shard;
  readonly timeBudget?: number;
  readonly minimize?: boolean;
  readonly out?: string;
  readonly replay?: string;
  readonly scenarios: boolean;
  readonly device: StressDevice;
  readonly html?: string;
  readonly report?: string;
}

const VERDICT_EXITS: Readonly<Record<StressResult["verdict"], number>> = {
  passed: EXIT.ok,
  failed: EXIT.finding,
  incomplete: EXIT.incomplete,
};
const QUESTIONS_EVERY = 8;
// By the names of their values; --no-color is the flag of "color".
const REPLAY_FLAGS: ReadonlySet<string> = new Set([
  "replay",
  "device",
  "html",
  "json",
  "verbose",
  "color",
]);

const HELP = `
Each seed is a run of scheduler-level operations on two ranks of the allocator, over a modelled
device whose streams finish when each rank's schedule, drawn from the seed, says so. After every
operation it is checked that no page lost what was written to it, that no two actors touch the
same bytes unordered, that both ranks decide alike, that answers about capacity are true, and more
(docs/stress.md). Each seed takes one of the page sizes, and under "mixed" one of the profiles, in
turn. The package's scenarios run first, under the same checks: they reach what
seeds seldom do.

On a device with real streams (--device host or cuda) the bytes are real too: forwards, copies and
transfers are held up as the seed says, so that a missing wait shows.

With --out the folder keeps a case for each finding, at once, and what is done: the same command
goes on from there after an interrupt, and runs the saved cases first. --replay runs one case
alone and exits with 7 when it no longer fails.

Examples:
  unified-trace stress
  unified-trace stress --seeds 0:200 --layouts full+window+state --jobs 2 --out build/stress
  unified-trace stress --seeds 0:1000 --profile transfers --shard 1/4 --time-budget 600
  unified-trace stress --device host --seeds 0:8
  unified-trace stress --replay build/stress/cases/CASE.json
  unified-trace stress --replay build/stress/cases/CASE.json --html finding.html
  unified-trace stress --report saved.json --markdown report.md`;

/** @internal */
export function addStress(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Run seeds on two ranks over a modelled device, under all safety checks.")
    .addOption(
      new Option("--seeds <from:to>", "seeds, TO not included")
        .argParser(seedRange("--seeds"))
        .default({ from: 0, to: 20 }, "0:20"),
    )
    .option("--ops <n>", "operations of a seed", wholeNumber("--ops", 1, 1_000_000), 400)
    .addOption(
      new Option("--layouts <list>", "which memories share the arena")
        .argParser(layoutList)
        .default(LAYOUTS, "all"),
    )
    .addOption(
      new Option("--page-sizes <list>", "tokens of a page; each seed takes one, in turn")
        .argParser(numberList("--page-sizes", 1, 1024))
        .default([1, 3, 4, 16, 64], "1,3,4,16,64"),
    )
    .option(
      "--profile <name>",
      `which operations are how likely: ${PROFILE_WORDS.join(", ")}`,
      oneOf("--profile", PROFILE_WORDS),
      "mixed",
    )
    .option("--deep", `try every answer about capacity on a copy, not one in ${QUESTIONS_EVERY}`)
    .option("--jobs <n>", "worker threads", wholeNumber("--jobs", 1, 64), 1)
    .addOption(new Option("--shard <i/n>", "part I of N, from 1").argParser(shardPart("--shard")))
    .option("--time-budget <seconds>", "begin no run after that", seconds("--time-budget"))
    .option("--minimize", "shrink the cases that were found; goes with --out")
    .option("--out <folder>", "where cases and the state lie")
    .option("--no-scenarios", "leave out the package's scenarios, which run before the seeds")
    .option("--replay <case>", "run a saved case alone")
    .option(
      "--device <name>",
      "what carries the bytes: model, the simulated one; host, cuda: real streams, held up as the seed says",
      oneOf<StressDevice>("--device", ["model", "host", "cuda"]),
      "model",
    )
    .option("--html <file>", CASES_HTML_FLAG)
    .option("--report <file>", "print a saved report (--json) in another form, run nothing")
    .option("--json", "print one JSON document");
  addSharedFlags(addReportFlags(command))
    .addHelpText("after", afterHelp(`${HELP}\n\n${REPORT_HELP}`))
    .action(
      settle(outcome, async (flags: StressFlags, self: Command) => {
        const read = [flags.replay, flags.report];
        checkReportFlags(flags, session, read);
        checkCasesHtml(flags.html, flags, read);
        if (flags.report !== undefined) {
          const saved = stressFromJson(await readReport(flags.report, [], self, session));
          return give({ ...saved, plan: null }, flags, session);
        }
        openDevice(flags.device, { verify: "touched" }); // is it there?
        if (flags.replay !== undefined) return replay(flags.replay, flags, self, session);
        return stress(flags, session);
      }),
    );
}

function layoutList(text: string): readonly Layout[] {
  return wordList("--layouts")(text).map((word) =>
    isLayout(word) ? word : unknownWord(`--layouts ${word}`, word, LAYOUTS),
  );
}

async function replay(
  file: string,
  { device, html }: StressFlags,
  command: Command,
  session: Session,
): Promise<number> {
  for (const option of command.options) {
    const name = option.attributeName();
    if (REPLAY_FLAGS.has(name) || command.getOptionValueSource(name) !== "cli") continue;
    throw new UsageError(
      `--replay runs one case as it stands: ${option.long ?? name} says nothing there`,
    );
  }
  const result = replayCase(file, device);
  if (session.isJson) session.printJson(replayedJson(result, file));
  else session.print(replayedText(result, session.palette));
  const code = result.finding !== null ? EXIT.finding : EXIT.notRepeated;
  if (html === undefined) return code;
  const { giveStressPage } = await import("../stress-html.js");
  const found = {
    result: asStress(result, file),
    reproduce: (finding: StressFinding) => reproduceWith(finding, { device }),
    plan: { ops: result.counts.operations, questionsEvery: 1, isReplayed: true },
    ...(result.finding === null ? { note: "The case no longer fails as it did." } : {}),
  };
  return worstExit([code, await giveStressPage(html, found, session)]);
}

async function stress(flags: StressFlags, session: Session): Promise<number> {
  const { seeds, ops, layouts, pageSizes, profile, jobs, shard, timeBudget, out, device } = flags;
  if (flags.minimize === true && out === undefined)
    throw new UsageError("--minimize goes with --out: it shrinks the cases that lie there");
  const questionsEvery = flags.deep === true ? 1 : QUESTIONS_EVERY;
  const scenarios = flags.scenarios ? loadScenarios([inPackage("scenarios")]) : [];
  // a folder that is none is told when it is opened as one
  const hasCases = out !== undefined && isFolder(join(out, "cases"));
  const cases = hasCases ? savedCases(out) : [];
  checkCasesHtml(flags.html, flags, [...scenarios.map(({ file }) => file), ...cases]);
  const result = await runStress({
    seeds,
    ops,
    layouts,
    pageSizes,
    profile,
    questionsEvery,
    device,
    shard: shard ?? null,
    jobs,
    timeBudget: timeBudget ?? null,
    out: out ?? null,
    isMinimizing: flags.minimize === true,
    scenarios,
    revision: await sourcesOf(),
    signal: session.signal,
    onProgress: progressOf(session, "run"),
    onSetAside: (runs, file) => {
      const what = runs === null ? "finished runs" : counted(runs, "finished run");
      const why = "of another revision or other flags (--ops, --profile, --deep, --device)";
      session.note(`unified-trace: ${what} ${why}: set aside as ${file}`);
    },
  });
  if (result.runs + result.cases === 0 && result.leftOut === 0)
    throw new UsageError("nothing to run: this shard has no seed", "fewer parts or more seeds");
  const reproduce = (finding: StressFinding): string => reproduceWith(finding, flags);
  const plan = { ops, questionsEvery, isReplayed: false };
  return give({ result, reproduce, plan }, flags, session);
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

async function give(
  found: StressFound,
  flags: ReportFlags & { readonly html?: string },
  session: Session,
): Promise<number> {
  const { result, reproduce } = found;
  const forms = {
    text: () => stressText(result, session.palette, session.isVerbose, reproduce),
    json: () => stressJson(result, reproduce),
    cases: () => stressCases(result, reproduce),
  };
  const code = giveReports(flags, forms, VERDICT_EXITS[result.verdict], session);
  if (flags.html === undefined) return code;
  const { giveStressPage } = await import("../stress-html.js");
  return worstExit([code, await giveStressPage(flags.html, found, session)]);
}

/** The sources that a saved state belongs to: their commit, and of a changed checkout the time of its build. */
async function sourcesOf(): Promise<string> {
  const { revision, dirty } = await readRevision();
  if (revision !== null && dirty === false) return revision;
  const built = statSync(inPackage("dist/.tsbuildinfo"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return `${revision ?? "unknown"} built ${built}`;
}

/** The command that shows a finding again. */
function reproduceWith(
  finding: StressFinding,
  { ops = 0, deep, device }: Pick<StressFlags, "device" | "deep"> & { readonly ops?: number },
): string {
  const on = device === "model" ? [] : [`--device ${device}`];
  if (finding.case !== null)
    return ["unified-trace stress --replay", shellWord(finding.case), ...on].join(" ");
  const match = /^(.+)\/p(\d+)\/seed-(\d+)$/.exec(finding.run);
  const [, layout = "", pageSize = "", seed = ""] = match ?? [];
  const words = [`--seeds ${seed}`, `--ops ${ops}`, `--layouts ${layout}`];
  const more = [`--page-sizes ${pageSize}`, `--profile ${finding.profile ?? "mixed"}`];
  return [
    "unified-trace stress",
    ...words,
    ...more,
    ...(deep === true ? ["--deep"] : []),
    ...on,
  ].join(" ");
}
