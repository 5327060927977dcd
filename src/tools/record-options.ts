// What a recording is asked for.
import type { DigestDepth } from "../base/operations.js";
import type { TraceWriter } from "../trace/writer.js";
import type { Workload, WorkloadGroup } from "../workload/workload.js";
import type { StartAdapter } from "./candidate.js";
import type { ToolControl } from "./pulse.js";

/** @public */
export interface RecordOptions extends ToolControl {
  readonly workloads: Iterable<Workload | WorkloadGroup>;
  readonly start: StartAdapter;
  readonly writer: TraceWriter; // left open; the caller commits or aborts
  readonly created?: string | null;
  readonly note?: string | null;
  readonly digestDepth: DigestDepth | null;
  readonly stateEvery?: number; // a full state after every N-th operation
  readonly last?: number; // only the last operations of each run, and the state before them
  /** With `last`: opens a file into which every line goes at once until its run is written, so that a kill loses nothing of
   * what is kept. */
  readonly openSpill?: () => TraceWriter;
  readonly intentFirst?: boolean; // a `call` line, flushed, before each call
  readonly checksAnswers?: boolean; // foreign code: an answer that the format does not know breaks a promise
}
