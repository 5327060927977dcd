// What a sweep found, as data.
import type { UnifiedTraceError } from "../../base/errors.js";

/** How often operations of one kind were refused with one code at one value, and where first. @public */
export interface RefusalCount {
  readonly op: string;
  readonly code: string;
  readonly count: number;
  readonly run: string; // of the first one
  readonly n: number;
}

/** The most pages of a band that were live at once. @public */
export interface BandPeak {
  readonly band: string;
  readonly pages: number;
  readonly bytes: number;
}

/** The most bytes of a heap that were in use at once. @public */
export interface HeapPeak {
  readonly requestedBytes: number; // that live objects asked for
  readonly endBytes: number; // the farthest end of an object
}

/**
 * The operations at one value. `refused`: the implementation refuses the configuration, or its `boot`; `broken`: it
 * broke a promise, and what follows in that run was not asked. @public
 */
export interface SweepPoint {
  readonly value: number;
  readonly outcome: "swept" | "refused" | "broken";
  readonly message: string | null; // why it is not swept
  readonly operations: number; // asked
  readonly granted: number;
  readonly refused: number;
  readonly invalid: number; // that break the contract, such as those on requests that were refused
  readonly left: number; // not asked: objects of a heap that were never allocated
  readonly refusals: readonly RefusalCount[]; // in the order in which they were met
  readonly moves: number | null; // pages; null: the implementation does not tell its effects
  readonly bands: readonly BandPeak[] | null; // null: no run of domain kv, or nothing tells them
  readonly heap: HeapPeak | null; // null: no run of domain heap
}

/** From where on operations of one kind are refused with one code, as the values were walked. @public */
export interface RefusalSpan {
  readonly op: string;
  readonly code: string;
  readonly values: number; // at how many
  readonly first: number; // value in the order walked
  readonly last: number;
  /** The value at its edge, and where there it is met first; null: it is refused at both ends, or the edge is not clear. */
  readonly begins: {
    readonly value: number;
    readonly run: string;
    readonly n: number;
    readonly count: number;
  } | null;
}

/** @public */
export interface Sweep {
  readonly key: string;
  readonly values: readonly number[]; // asked for, in the order walked
  readonly points: readonly SweepPoint[]; // one for each value that was reached
  readonly refusals: readonly RefusalSpan[];
  readonly runs: number; // replayed in all
  readonly operations: number;
  readonly isPartial: boolean; // a part of the trace was left out, or values were not reached
  readonly error: UnifiedTraceError | null; // what ended it early
}
