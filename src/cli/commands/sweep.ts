// `sweep`: a trace at each value of a configuration key.
import type { Command } from "commander";
import { parseHeapSpec } from "../../adapter/heap-spec.js";
import { parseAdapterSpec } from "../../adapter/open-adapter.js";
import { UsageError } from "../../base/errors.js";
import { EXIT, worstExit } from "../../base/exit-codes.js";
import { sweepJson, sweepVerdict } from "../../report/sweep-json.js";
import { sweepText } from "../../report/sweep-text.js";
import { counted, grouped, visible } from "../../report/words.js";
import type { Sweep } from "../../tools/sweep/outcome.js";
import { sweepKey } from "../../tools/sweep/sweep.js";
import { sweepValues } from "../../tools/sweep/values.js";
import type { SweepStep } from "../../tools/sweep/values.js";
import { fileOfSpec } from "../../workload/import.js";
import { addSharedFlags, afterHelp, progressOf, settle } from "../command.js";
import type { CommandOutcome } from "../command.js";
import { seconds, sizeIn } from "../flags.js";
import { addImplementationFlags, IMPLEMENTATION_FORMS, starterOf } from "../implementation.js";
import type { ImplementationFlags } from "../implementation.js";
import { addReadingFlags, readerOptions } from "../reading.js";
import type { ReadingFlags } from "../reading.js";
import type { Session } from "../session.js";
import { traceHash } from "../trace-hash.js";

interface SweepRange {
  readonly key: string;
  readonly values: readonly number[];
}

interface SweepFlags extends ImplementationFlags, ReadingFlags {
  readonly trace?: string;
  readonly key?: SweepRange;
  readonly impl: string;
  readonly run?: string;
  readonly timeBudget?: number; // seconds
}

const HELP = `
The operations are replayed at each value; recorded answers are not looked at. The answer says, by
operation kind and refusal code, at which value refusals begin, and for each value how many
operations are granted and refused, how many pages are moved and how much is in use at most: pages
of each band, or bytes of a heap.

KEY is a number of the configuration, with dots for keys inside others, as for bisect --key. Sizes
take k, m, g. STEP is a difference or, as x2 or x1.5, a factor; TO is always among the values. A
page size takes powers of two and needs no STEP.

Exit code 0: all values were replayed; 1: the implementation broke at one of them; 6: a part was
left out, because of --time-budget or a truncated trace.

Examples:
  unified-trace sweep --trace base.jsonl --key arena_bytes=1m:8m:256k
  unified-trace sweep --trace base.jsonl --key rows=64:1:x2 --run full+window/p16/seed-7 --json
  unified-trace sweep --trace minimalloc:A.1048576.csv --impl heap:best-fit \\
    --key arena_bytes=2m:1m:64k`;

/** @internal */
export function addSweep(command: Command, session: Session, outcome: CommandOutcome): void {
  command
    .description("Replay a trace at each value of a configuration key: refusals, moves, peaks.")
    .option("--trace <file>", "the trace: .jsonl, .jsonl.gz, or a log that import takes (required)")
    .option("--key <key=from:to:step>", "the key and its values (required)", sweepRange)
    .option("--impl <implementation>", IMPLEMENTATION_FORMS, "self")
    .option("--run <id>", "replay only this run")
    .option("--time-budget <seconds>", "begin no value after it (exit 6)", seconds("--time-budget"))
    .option("--json", "print one JSON document");
  addReadingFlags(addImplementationFlags(command, "touched"));
  addSharedFlags(command)
    .addHelpText("after", afterHelp(HELP))
    .action(settle(outcome, (flags: SweepFlags) => sweep(flags, session)));
}

async function sweep(flags: SweepFlags, session: Session): Promise<number> {
  const { trace, key: range, impl, run } = flags;
  if (trace === undefined) throw new UsageError("sweep needs --trace FILE");
  if (trace === "-")
    throw new UsageError("--trace -: the trace is read again for each value: name a file");
  if (range === undefined) throw new UsageError("sweep needs --key KEY=FROM:TO:STEP");
  refuseFixedArena(impl, range.key);
  const end = performance.now() + (flags.timeBudget ?? Infinity) * 1000;
  const result = await sweepKey({
    trace,
    key: range.key,
    values: range.values,
    start: starterOf(impl, flags, session),
    reader: readerOptions(flags, session),
    ...(run === undefined ? {} : { run }),
    isTimeOver: () => performance.now() > end,
    signal: session.signal,
    onProgress: progressOf(session, "replayed"),
    onPoint: ({ value, refused }) => {
      session.progress.show(`${range.key} ${grouped(value)}: ${counted(refused, "refusal")}`);
    },
  });
  if (session.isJson) session.printJson(sweepJson(result, traceHash(fileOfSpec(trace))));
  else session.print(sweepText(result, session.palette));
  if (result.error !== null && !session.isJson)
    session.note(`unified-trace: ${visible(result.error.describe())}`);
  return exitOf(result);
}

function exitOf(result: Sweep): number {
  const exits: number[] = [];
  if (sweepVerdict(result) === "broken") exits.push(EXIT.finding);
  if (result.isPartial && result.error === null) exits.push(EXIT.incomplete);
  if (result.error !== null) exits.push(result.error.exitCode);
  return worstExit(exits);
}

// Such an allocator would have the same arena at each value.
function refuseFixedArena(impl: string, key: string): void {
  const { kind, target } = parseAdapterSpec(impl);
  if (kind !== "heap" || key !== "arena_bytes" || parseHeapSpec(target).arenaBytes === null) return;
  throw new UsageError(
    `--impl ${impl} names its arena, which --key arena_bytes is to change: leave the size out`,
  );
}

function sweepRange(text: string): SweepRange {
  const at = text.indexOf("=");
  const key = text.slice(0, Math.max(0, at));
  const [from = "", to = "", step, ...more] = text.slice(at + 1).split(":");
  const isPageSize = key.split(".").at(-1) === "page_size";
  const by = step === undefined ? (isPageSize ? { by: 1, isFactor: false } : null) : stepIn(step);
  const ends = [sizeIn(from), sizeIn(to)] as const;
  const isRead = ends.every((value) => Number.isSafeInteger(value)) && more.length === 0;
  if (!isRead || by === null || !/^[\w.+/-]+$/.test(key)) {
    throw new UsageError(
      `--key ${text}: expected KEY=FROM:TO:STEP, such as arena_bytes=1g:8g:256m or rows=1:64:x2`,
    );
  }
  return { key, values: sweepValues(key, ends[0], ends[1], by) };
}

function stepIn(text: string): SweepStep | null {
  const factor = /^x(\d+(?:\.\d+)?)$/.exec(text)?.[1];
  const by = factor === undefined ? sizeIn(text) : Number(factor);
  const isGood = factor === undefined ? Number.isSafeInteger(by) && by >= 1 : by > 1 && by < 1e6;
  return isGood ? { by, isFactor: factor !== undefined } : null;
}
