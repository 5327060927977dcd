// A take grows first and uses its holes for the rest of the list.
import { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "fresh-before-holes",
  about:
    "a mixed take hands out its fresh pages before its holes, so that batches of other sizes get other pages",
  row: 11,
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
          return [...pages.slice(reused), ...pages.slice(0, reused)];
        },
    ),
};
