// What is shown of one operation: what was asked and answered, and the arena before and after it, on one side or two.
import type { AdapterFailure } from "../../adapter/adapter.js";
import type { Answer } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import type { OpLine, RunLine } from "../../trace/lines.js";
import type { StartAdapter } from "../candidate.js";
import type { Parting } from "./follower.js";
import type { HeapMap } from "./heap-map.js";
import type { PageMap } from "./page-map.js";

/** An implementation by its name. @public */
export interface NamedStart {
  readonly spec: string; // as the user named it
  readonly start: StartAdapter;
}

/** The arena at one moment. @public */
export type Snapshot =
  | { readonly kind: "kv"; readonly state: State; readonly map: PageMap | null } // null: no geometry is known
  | { readonly kind: "heap"; readonly map: HeapMap };

/** Where the states of a side come from. @public */
export type StateSource =
  | { readonly from: "trace" } // its `state` lines, or its answers where they tell everything
  | {
      readonly from: "replay";
      readonly spec: string;
      readonly after: number; // began behind this operation; -1: at the beginning
      readonly operations: number; // replayed
      readonly isChecked: boolean; // digests were compared as well
      readonly parting: Parting | null; // where it first did something else than the record
    }
  | { readonly from: "nowhere"; readonly why: string };

/** One side at one operation. @public */
export interface SideLook {
  readonly spec: string | null; // null: the trace
  readonly answer: Answer | null; // null: it gave none
  readonly failure: AdapterFailure | null;
  readonly before: Snapshot | null; // null at the first operation too
  readonly after: Snapshot | null;
  readonly source: StateSource;
}

/** @public */
export interface Look {
  readonly run: RunLine;
  readonly line: OpLine; // as it stands in the trace
  readonly base: SideLook;
  readonly candidate: SideLook | null;
  /** Where the implementation that stands in for the trace first answered otherwise: then it tells no states. */
  readonly parting: Parting | null;
  readonly operations: number; // of the run, read
  readonly replayed: number; // by all implementations
  readonly isPartial: boolean; // the trace is truncated, or keys were left out
}
