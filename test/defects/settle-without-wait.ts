// A take turns pending pages into holes and forgets which forward they waited for.
import { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "settle-without-wait",
  about:
    "pages of a settled pending batch are zeroed without waiting for the forward that still reads them",
  row: 39,
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
          const pages = original.call(this, count, first, settled);
          settled.forward = null;
          return pages;
        },
    ),
};
