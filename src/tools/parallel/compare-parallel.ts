// A comparison over several threads. The runs of a trace know nothing of each other, so stretches of them are compared side
// by side and put together in order: the result is that of one thread. Where anything is out of the ordinary (a wrong file,
// a candidate that breaks off) all of it is compared by one thread, which says what there is to say.
import { builtScript } from "../../base/built-script.js";
import type { TraceResume } from "../../trace/reader-equal.js";
import { resumeAt, runPlaces } from "../../trace/reader-places.js";
import type { RunPlace } from "../../trace/reader-places.js";
import { compareTrace } from "../compare-trace.js";
import type { CompareTraceOptions } from "../compare-options.js";
import { ResultList } from "../compare-results.js";
import type { Mask } from "../masks.js";
import type { CompareResult } from "../outcome.js";
import { sideDifferences, TraceSide } from "../sides.js";
import { workInThreads } from "../worker-threads.js";
import type { ImplementationData, Part, PartOutcome, PartPlan } from "./part.js";

const PARTS_A_JOB = 4; // stretches are not equally long in time

/** @public */
export interface CompareParallelOptions extends CompareTraceOptions {
  readonly jobs: number; // threads, 1 or more
  /** The implementations as data, and the masks of `masks`: functions do not travel. */
  readonly data: {
    readonly candidate: ImplementationData;
    readonly base: ImplementationData | null;
    readonly masks: readonly Mask[];
    readonly deadline: number | null; // of `isOverTime`, milliseconds since 1970
  };
}

/** As `compareTrace`, with the same result. @public */
export async function compareParallel(options: CompareParallelOptions): Promise<CompareResult> {
  const outcomes = canBeParted(options) ? await compareParts(options) : null;
  const whole = outcomes === null ? null : joined(outcomes, options);
  return whole ?? compareTrace(options);
}

function canBeParted({ jobs, run, first, reader, trace }: CompareParallelOptions): boolean {
  const isPlain = run === undefined && first !== true && trace !== "-";
  return jobs > 1 && isPlain && reader?.lenient !== true && reader?.acceptTruncated !== true;
}

/** Null where the trace has no two runs, or a part did not go smoothly. */
async function compareParts(
  options: CompareParallelOptions,
): Promise<readonly NonNullable<PartOutcome>[] | null> {
  const { trace, jobs, signal } = options;
  const places = runPlaces(trace);
  if (places === null || places.length < 2) return null;
  let resume: (index: number) => TraceResume;
  try {
    resume = await resumeAt(trace, places);
  } catch {
    return null;
  }
  const parts = partsOf(places, jobs * PARTS_A_JOB, resume);
  const outcomes: PartOutcome[] = [];
  let next = 0;
  let isSmooth = true;
  const take = (): Part | null => {
    signal?.throwIfAborted();
    return isSmooth ? (parts[next++] ?? null) : null;
  };
  await workInThreads<Part, PartOutcome>({
    script: builtScript("tools/parallel/worker.js"),
    data: planOf(options),
    threads: Math.min(jobs, parts.length),
    signal,
    take,
    done: (part, outcome) => {
      outcomes[parts.indexOf(part)] = outcome;
      if (outcome === null) isSmooth = false;
      tellProgress(outcomes, options);
    },
  });
  return outcomes.every((outcome) => outcome !== null) ? outcomes : null;
}

function planOf({ trace, data, reader, ...rest }: CompareParallelOptions): PartPlan {
  const { keep, mode, past, skipUnsupported, isDoubled, shard, isBrief } = rest;
  return {
    trace,
    ...data,
    maxLineBytes: reader?.maxLineBytes ?? null,
    choices: {
      ...(keep === undefined ? {} : { keep }),
      ...(mode && { mode }),
      ...(past === undefined ? {} : { past }),
      ...(shard && { shard }),
      skipUnsupported: skipUnsupported === true,
      isDoubled: isDoubled === true,
      isBrief: isBrief === true,
    },
  };
}

/** Stretches of about equally many bytes, at most `most` of them. */
function partsOf(
  places: readonly RunPlace[],
  most: number,
  resume: (index: number) => TraceResume,
): readonly Part[] {
  const from = places[0]!.offset; // there are two at least
  const step = (places.at(-1)!.offset - from) / most;
  const starts: number[] = [0];
  for (const [index, { offset }] of places.entries()) {
    if (offset >= from + step * starts.length && index > starts.at(-1)!) starts.push(index);
  }
  return starts.map((index, at) => {
    const end = starts[at + 1];
    return {
      resume: resume(index),
      until: end === undefined ? null : places[end]!.run,
      index,
      runs: (end ?? places.length) - index,
    };
  });
}

function tellProgress(
  outcomes: readonly (PartOutcome | undefined)[],
  { onProgress }: CompareParallelOptions,
): void {
  let [runs, operations] = [0, 0];
  for (const outcome of outcomes) {
    runs += outcome?.result.runs.length ?? 0;
    operations += outcome?.result.operations ?? 0;
  }
  onProgress?.({ runs, operations, run: null });
}

/** The parts as one result; null where the candidate lacks operations, which only the whole can tell of. */
function joined(
  outcomes: readonly NonNullable<PartOutcome>[],
  options: CompareParallelOptions,
): CompareResult | null {
  const list = new ResultList(options);
  const side = new TraceSide(options.trace);
  let candidate: CompareResult["candidate"] = null;
  for (const { result, facts } of outcomes) {
    side.join(facts);
    list.leftOut += result.leftOut;
    candidate ??= result.candidate;
    if (options.masks !== undefined) options.masks.hidden += result.hidden;
    if (result.differences.some(({ what }) => what === "operation kinds")) return null;
    for (const run of result.runs) {
      const { divergence } = run;
      const reproduce =
        divergence === null ? null : (options.reproduce?.(run.run, divergence.n) ?? null);
      list.push({ ...run, reproduce });
    }
  }
  const base = side.info();
  const { configHash, pageSizes } = base;
  const other = candidate && { ...candidate, configHash, pageSizes };
  const differences = other === null ? [] : sideDifferences(base, other);
  options.onDifferences?.(differences);
  return list.finish({ base, candidate: other, differences, isUnread: false });
}
