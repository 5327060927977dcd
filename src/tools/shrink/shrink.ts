// Shrinking: first whether the failure repeats, then rounds of passes until one finds nothing smaller. What a round
// tries depends on the case alone, so a second shrink of the result changes nothing.
import type { Finding, Signature } from "../findings.js";
import { isSameFailure } from "../findings.js";
import { renameAll, shrinkArguments } from "./argument-passes.js";
import { caseOf } from "./case.js";
import type { Judge, Judgement, ShrinkCase, Work } from "./case.js";
import { shrinkConfig } from "./config-passes.js";
import {
  cutAfterFailure,
  dropEntries,
  dropObjects,
  dropOperations,
  joinOperations,
} from "./operation-passes.js";
import { Search, SearchStopped } from "./search.js";
import type { OtherFailure, PassCount, SearchOptions, StopReason } from "./search.js";

export type { PassCount } from "./search.js";

/** How far a shrink is. @public */
export interface ShrinkProgress {
  readonly operations: number; // of the smallest case so far
  readonly tried: number;
}

/** @public */
export interface ShrinkOptions {
  readonly case: ShrinkCase;
  readonly judge: Judge;
  /** The failure that is looked for; null: whatever the case shows. */
  readonly signature?: Signature | null;
  /** The failure is about the last operation, which therefore stays; "unchanged": with its arguments. */
  readonly target?: "free" | "kept" | "unchanged";
  /** A smaller case from an earlier shrink; used where it still fails in the same way. */
  readonly resume?: ShrinkCase | null;
  readonly jobs?: number; // cases judged at once, default 1
  readonly isTimeOver?: () => boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ShrinkProgress) => void;
  /** Called after every improvement, and once for the first case. */
  readonly onBetter?: (best: FailingCase) => Promise<void>;
  readonly others?: number; // other failures that get a minimal case too, default 3
}

/** @public */
export interface FailingCase {
  readonly case: ShrinkCase;
  readonly finding: Finding;
}

/** @public */
export type ShrinkResult =
  | {
      readonly kind: "not repeated";
      readonly judgements: readonly Judgement[]; // what its runs showed
      readonly wanted: Signature | null;
    }
  | {
      readonly kind: "shrunk";
      readonly best: FailingCase;
      readonly from: number; // operations of the first case
      readonly isResumed: boolean;
      /** Null: no single operation, argument or setting can go. */
      readonly stopped: StopReason | null;
      readonly tried: number;
      readonly passes: readonly PassCount[];
      readonly others: readonly FailingCase[]; // other failures met on the way, shrunk too
    };

const PASSES: readonly ((search: Search) => Promise<boolean>)[] = [
  cutAfterFailure,
  dropObjects,
  dropOperations,
  dropEntries,
  joinOperations,
  shrinkArguments,
  renameAll,
  shrinkConfig,
];
const REPEATS = 2; // runs that show that a failure repeats
const OTHERS = 3; // failures met on the way that are shrunk as well
const OTHER_TRIES = 2000; // for each of them

/** Shrinks a failing case. Stops at an abort, keeping the best case so far. @public */
export async function shrink(options: ShrinkOptions): Promise<ShrinkResult> {
  const judgements: Judgement[] = [];
  for (let run = 0; run < REPEATS; run++) judgements.push(await options.judge(options.case));
  const wanted = options.signature ?? null;
  const first = repeated(judgements, wanted);
  if (first === null) return { kind: "not repeated", judgements, wanted };
  const work = workOf(options, first.illegal);
  const resumed = await resumable(options, first);
  const begin = resumed ?? { work, finding: first.finding };
  const search = new Search(begin.work, begin.finding, searchOptions(options));
  const stopped = await rounds(search, options, begin);
  const others = stopped === null ? await shrinkOthers(search.others, options) : [];
  return {
    kind: "shrunk",
    best: { case: caseOf(search.best), finding: search.finding },
    from: options.case.ops.length,
    isResumed: resumed !== null,
    stopped,
    tried: search.tried,
    passes: search.passes,
    others,
  };
}

type Fails = Judgement & { readonly kind: "fails" };

/** The judgement when every run shows the same failure, and the one that is looked for. */
function repeated(judgements: readonly Judgement[], wanted: Signature | null): Fails | null {
  let first: Fails | null = null;
  for (const judgement of judgements) {
    if (judgement.kind !== "fails") return null;
    const { signature } = judgement.finding;
    if (!isSameFailure(signature, wanted ?? signature)) return null;
    first ??= judgement;
    if (!isSameFailure(signature, first.finding.signature)) return null;
  }
  return first;
}

function workOf(
  { case: value, target }: Pick<ShrinkOptions, "case" | "target">,
  illegal: readonly number[] | undefined,
): Work {
  const broken = new Set(illegal);
  const last = value.ops.length - 1;
  const pieces = value.ops.map((operation, index) => ({
    operation,
    wasIllegal: broken.has(index),
    hold: index === last ? (target ?? "free") : ("free" as const),
  }));
  return { config: value.config, pieces };
}

/** The case of an earlier shrink, where it fails as the first one does. */
async function resumable(
  options: ShrinkOptions,
  first: Fails,
): Promise<{ work: Work; finding: Finding } | null> {
  const { resume, judge, target } = options;
  if (resume === undefined || resume === null) return null;
  if (resume.ops.length > options.case.ops.length) return null;
  const judgement = await judge(resume);
  if (judgement.kind !== "fails") return null;
  const { finding, illegal } = judgement;
  if (!isSameFailure(finding.signature, first.finding.signature)) return null;
  return { work: workOf({ case: resume, target: target ?? "free" }, illegal), finding };
}

type SearchChoices = Pick<
  ShrinkOptions,
  "judge" | "jobs" | "signal" | "isTimeOver" | "onBetter" | "onProgress"
>;

function searchOptions(options: SearchChoices): SearchOptions {
  const { judge, jobs, signal, isTimeOver, onBetter } = options;
  return {
    judge,
    jobs: jobs ?? 1,
    mustStop: () => {
      if (signal?.aborted === true) return "interrupted";
      return isTimeOver?.() === true ? "time budget" : null;
    },
    onBetter: async (work, finding) => onBetter?.({ case: caseOf(work), finding }),
    onTried: async (operations, tried) => {
      options.onProgress?.({ operations, tried });
      // lets signals in
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    },
  };
}

async function rounds(
  search: Search,
  options: Pick<ShrinkOptions, "onBetter" | "signal">,
  begin: { readonly work: Work; readonly finding: Finding },
): Promise<StopReason | null> {
  try {
    await options.onBetter?.({ case: caseOf(begin.work), finding: begin.finding });
    for (let isBetter = true; isBetter;) {
      isBetter = false;
      for (const pass of PASSES) {
        if (await pass(search)) isBetter = true;
      }
    }
    return null;
  } catch (thrown) {
    if (thrown instanceof SearchStopped) return thrown.reason;
    // an implementation in another process ends with the interrupt
    if (options.signal?.aborted === true) return "interrupted";
    throw thrown;
  }
}

/** Each gets a few tries: they are a by-product, and mostly the same mistake seen elsewhere. */
async function shrinkOthers(
  others: ReadonlyMap<string, OtherFailure>,
  options: ShrinkOptions,
): Promise<readonly FailingCase[]> {
  const shrunk: FailingCase[] = [];
  for (const other of [...others.values()].slice(0, options.others ?? OTHERS)) {
    const judgement = await options.judge(other.case);
    if (judgement.kind !== "fails") continue;
    const { finding, illegal } = judgement;
    const work = workOf({ case: other.case }, illegal);
    const limits = {
      ...searchOptions(options),
      onBetter: () => Promise.resolve(),
      triesMax: OTHER_TRIES,
    };
    const search = new Search(work, finding, limits);
    await rounds(search, {}, { work, finding });
    shrunk.push({ case: caseOf(search.best), finding: search.finding });
  }
  return shrunk;
}
