// What a band hands out, bent by a defect.
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod } from "./patch.js";

/** One hand-out as the band made it. */
export interface Acquired {
  readonly band: Band;
  readonly pages: number[];
  readonly reused: number; // pages at the front that were holes or pending, the others are fresh
  readonly settled: { forward: ForwardStep | null; fresh: number };
}

/** Puts other pages in the place of those that a band hands out; returns the undo. */
export function changeAcquired(change: (acquired: Acquired) => number[]): () => void {
  return patchMethod(
    Band.prototype,
    "acquire",
    (original) =>
      function (this: Band, count: number, first: number, settled: Acquired["settled"]): number[] {
        const reused = Math.min(count, this.holes.length + this.pendingPages);
        const pages = original.call(this, count, first, settled);
        return change({ band: this, pages, reused, settled });
      },
  );
}
