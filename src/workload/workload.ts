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

/** What a run is called and how it is configured. @public */
export type WorkloadRun = Pick<Workload, "run" | "config" | "source">;

/**
 * Runs side by side that exchange something, each on an implementation of its own: one generator that says which of them
 * is asked next. @public
 */
export interface WorkloadGroup {
  readonly runs: readonly WorkloadRun[]; // in the order in which they stand in a trace
  /**
   * The next step and the index of the run it is for, or null at the end. `answer` is the answer to the operation yielded
   * before, null at the start and after a mark. The first operation of each run is `boot`.
   */
  next(answer: Answer | null): GroupStep | null;
  readonly counters?: Readonly<Record<string, number>>; // of all runs together
}

/** @public */
export interface GroupStep {
  readonly run: number; // index
  readonly step: WorkloadStep;
}

/** A single workload as a group of one. @internal */
export function groupOf(workload: Workload | WorkloadGroup): WorkloadGroup {
  if ("runs" in workload) return workload;
  return {
    runs: [workload],
    next(answer: Answer | null): GroupStep | null {
      const step = workload.next(answer);
      return step === null ? null : { run: 0, step };
    },
    get counters(): Readonly<Record<string, number>> {
      return workload.counters ?? {};
    },
  };
}
