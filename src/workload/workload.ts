// A workload is a generator of operations that sees answers, never implementations.
import type { Answer, Operation, RunConfig } from "../base/operations.js";

/** Where a run came from; stands on the `run` line. @public */
export type RunSource =
  | { readonly type: "seed"; readonly seed: number; readonly ops: number; readonly weights: string }
  | { readonly type: "scenario"; readonly name: string }
  | {
      readonly type: "workload";
      readonly name: string;
      readonly [key: string]: string | number | boolean | null;
    }
  | {
      readonly type: "import";
      readonly name: string;
      readonly [key: string]: string | number | boolean | null;
    }
  | { readonly type: "live"; readonly name: string };

/** What a workload yields next: an operation, or a note for the trace. @public */
export type WorkloadStep = { readonly operation: Operation } | { readonly mark: string };

/** @public */
export interface Workload {
  readonly run: string; // unique in a trace
  readonly config: RunConfig;
  readonly source: RunSource;
  /**
   * The next step, or null at the end. `answer` is the answer to the operation yielded before, null at the start and
   * after a mark. The first operation is always `boot`.
   */
  next(answer: Answer | null): WorkloadStep | null;
  /** Counters a serving model keeps (requests served, retractions, drops by reason …); absent where there are none. */
  readonly counters?: Readonly<Record<string, number>>;
}

/** Which run of a pair; the runs stand in the trace in this order. @public */
export type PairSide = 0 | 1;

/** What a run is called and how it is configured. @public */
export type WorkloadRun = Pick<Workload, "run" | "config" | "source">;

/**
 * Two runs side by side that exchange something, each on an implementation of its own: one generator that says which of
 * them is asked next. @public
 */
export interface WorkloadPair {
  readonly runs: readonly [WorkloadRun, WorkloadRun];
  /**
   * The next step and the run it is for, or null at the end. `answer` is the answer to the operation yielded before, null
   * at the start and after a mark. The first operation of each run is `boot`.
   */
  next(answer: Answer | null): { readonly side: PairSide; readonly step: WorkloadStep } | null;
  readonly counters?: Readonly<Record<string, number>>; // of both
}
