// `stats`: counts of what is in a trace.
import type { Command } from "commander";
import { parseHeapSpec } from "../../adapter/heap-spec.js";
import type { HeapSpec } from "../../adapter/heap-spec.js";
import { InProcessAdapter } from "../../adapter/in-process.js";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { coverageText } from "../../report/coverage-text.js";
import { heapStudyJson } from "../../report/heap-json.js";
import { heapStudyText } from "../../report/heap-text.js";
import { coverageJson, statsJson } from "../../report/json.js";
import { statsText } from "../../report/stats-text.js";
import { HEAP_POLICIES } from "../../heap/heap-allocator.js";
import { studyHeap } from "../../tools/heap-study.js";
import { coveragePercent } from "../../tools/coverage-counts.js";
import { traceCoverage } from "../../tools/coverage.js";
import { traceStats } from "../../tools/stats.js";
import type { TraceStats } from "../../tools/stats.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { byteSize, wholeNumber, wordList } from "../flags.js";
import { giveStatsPage } from "../html-page.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import { refuseOverInputs } from "../same-file.js";
import type { Session } from "../session.js";

interface StatsFlags extends ReadingFlags {
  readonly run?: string;
  readonly curves: boolean;
  readonly html?: string;
  readonly coverage?: boolean;
  readonly floor?: number; // percent
  readonly allocators?: readonly HeapSpec[];
  readonly arenaBytes?: number;
}

const HELP = `
Counted: operations by kind, refusals by code, steps of granted takes, moved
pages, retirements that freed pages, retractions, waits, the operations after which freed pages
waited for a forward; matches of the prefix tree with the tokens they found, evictions,
checkpoints and their stalls; backups, loads and restores of the host cache; host waits; transfers
by outcome.

Then, for a run, the peaks of its memory and how it went along the operations: occupancy (live bytes
by usable ones), capacity (bytes outside every span), fragmentation (of the spans, what is not
live). Of many runs the one with the most live bytes is shown, and --json has at most 32.
--no-curves leaves this out. --html writes a page that opens offline, with the curves of all.

--coverage says instead what all files together exercise: operation kinds (granted 10 times, and
with an effect where they have any), refusals, broken rules, effects; and, by replaying the files
on the allocator of this checkout, its steps of relief and the cells of its clearance table.

--allocators asks reference allocators what runs of domain heap asked: first-fit, best-fit, buddy,
tlsf (two-level segregated fit), or all. Logs that import takes do as well. The table tells whether
all requests fit the arena, the farthest byte in use, the most bytes that live objects asked for,
and what share of the farthest byte nobody had asked for when it was reached; --json adds curves.
Without --arena-bytes the arena is that of the run's configuration, else as large as need be.

Examples:
  unified-trace stats base.jsonl
  unified-trace stats base.jsonl --run full+window/p16/seed-7 --html stats.html
  unified-trace stats base.jsonl real.jsonl.gz --coverage --floor 100
  unified-trace stats real.jsonl.gz --run serving/tight/full+window/p16/mooncake --json
  unified-trace stats minimalloc:A.csv minimalloc:B.csv --allocators all --arena-bytes 1m
  unified-trace stats systemui.jsonl.gz --allocators best-fit,tlsf`;

/** @internal */
export function addStats(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Count what happened in traces.")
    .option("--run <id>", "count only this run")
    .option("--no-curves", "counts alone, from the lines alone: faster")
    .option("--html <file>", "write one offline page: counts and curves")
    .option("--coverage", "what the files together exercise, by table")
    .option(
      "--floor <percent>",
      "with --coverage: exit 1 below this share",
      wholeNumber("--floor", 0, 100),
    )
    .option(
      "--allocators <list>",
      `ask reference allocators of domain heap: ${HEAP_POLICIES.join(", ")} or all`,
      allocatorList,
    )
    .option(
      "--arena-bytes <size>",
      "with --allocators: size of the arena",
      byteSize("--arena-bytes"),
    )
    .option("--json", "print one JSON document");
  addReadingFlags(command);
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(
      settle(outcome, async (files: readonly string[], flags: StatsFlags) => {
        checkFlags(files, flags);
        if (flags.coverage === true) return coverage(session, files, flags);
        if (flags.allocators !== undefined) return study(session, files, flags.allocators, flags);
        return count(session, files, flags);
      }),
    );
}

/** Throws `UsageError`. */
function checkFlags(files: readonly string[], flags: StatsFlags): void {
  const { coverage: isCoverage = false, allocators, floor, arenaBytes, curves, html } = flags;
  if (isCoverage && allocators !== undefined)
    throw new UsageError("--coverage and --allocators exclude each other");
  if (!isCoverage && floor !== undefined) throw new UsageError("--floor: only with --coverage");
  if (allocators === undefined && arenaBytes !== undefined)
    throw new UsageError("--arena-bytes: only with --allocators");
  if (isCoverage || allocators !== undefined) {
    const other = isCoverage ? "--coverage" : "--allocators";
    if (!curves) throw new UsageError(`--no-curves: not with ${other}`);
    if (html !== undefined) throw new UsageError(`--html: not with ${other}`);
  }
  if (html === "-") throw new UsageError("--html writes a file: - is none");
  refuseOverInputs([["--html", html]], files);
}

async function count(
  session: Session,
  files: readonly string[],
  flags: StatsFlags,
): Promise<number> {
  const counted: TraceStats[] = [];
  for (const trace of files) {
    counted.push(
      await traceStats({
        trace,
        curves: flags.curves,
        reader: readerOptions(flags, session),
        ...(flags.run === undefined ? {} : { run: flags.run }),
        signal: session.signal,
        onProgress: progressOf(session, "counted"),
      }),
    );
  }
  const codes: number[] = [];
  if (flags.html !== undefined) codes.push(await giveStatsPage(flags.html, counted, session));
  if (session.isJson) session.printJson(statsJson(counted));
  else session.print(statsText(counted, session.palette));
  if (counted.some(({ truncated }) => truncated)) codes.push(EXIT.incomplete);
  return worstExit(codes);
}

async function coverage(
  session: Session,
  traces: readonly string[],
  flags: StatsFlags,
): Promise<number> {
  if (flags.run !== undefined) throw new UsageError("--run: not with --coverage");
  const found = await traceCoverage({
    traces,
    reader: readerOptions(flags, session),
    start: () => new InProcessAdapter({ device: "none" }),
    signal: session.signal,
    onProgress: progressOf(session, "counted"),
  });
  // What a floor asks of a corpus whose replay breaks is not known.
  const isShort = coveragePercent(found.tables) < (flags.floor ?? 0) || found.violations > 0;
  if (session.isJson) session.printJson(coverageJson(found, isShort));
  else session.print(coverageText(found, session.palette));
  return isShort ? EXIT.finding : EXIT.ok;
}

async function study(
  session: Session,
  files: readonly string[],
  allocators: readonly HeapSpec[],
  flags: StatsFlags,
): Promise<number> {
  const studies = await studyHeap({
    files,
    allocators,
    arenaBytes: flags.arenaBytes ?? null,
    reader: readerOptions(flags, session),
    ...(flags.run === undefined ? {} : { run: flags.run }),
    now: () => performance.now(),
    signal: session.signal,
    onProgress: progressOf(session, "asked"),
  });
  if (session.isJson) session.printJson(heapStudyJson(studies));
  else session.print(heapStudyText(studies, session.palette));
  return EXIT.ok;
}

function allocatorList(text: string): readonly HeapSpec[] {
  const words = text === "all" ? HEAP_POLICIES : wordList("--allocators")(text);
  return words.map((word) => parseHeapSpec(word.replace(/^heap:/, "")));
}
