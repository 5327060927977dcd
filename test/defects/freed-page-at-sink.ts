// A free leaves the page's number at virtual page 0.
import { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "freed-page-at-sink",
  about:
    "freeing in a grow-down owner leaves the page's number at virtual page 0, which has to stay the sink",
  row: 14,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "free",
      (original) =>
        function (this: Band, virtual: number, forward: ForwardStep | null): number {
          const page = original.call(this, virtual, forward);
          if (this.plan.isOwner) this.v2p[0] = page;
          return page;
        },
    ),
};
