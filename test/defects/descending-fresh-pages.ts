// The fresh part of a mixed grow-down take comes from the frontier downwards.
import { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "descending-fresh-pages",
  about: "a grow-down end hands out fresh pages in descending order when it also reuses holes",
  row: 10,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "acquire",
      (original) =>
        function (
          this: Band,
          count: number,
          first: number,
          settled: { forward: ForwardStep | null; fresh: number },
        ): number[] {
          const reused = Math.min(count, this.holes.length + this.pendingPages);
          const pages = original.call(this, count, first, settled);
          if (this.plan.grow !== "down" || reused === 0) return pages;
          return [...pages.slice(0, reused), ...pages.slice(reused).reverse()];
        },
    ),
};
