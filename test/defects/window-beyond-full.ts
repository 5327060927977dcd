// A demand with more window than full pages is refused.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "window-beyond-full",
  about:
    "a load of windows alone is refused for capacity, since it has more window pages than full ones",
  row: 41,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "price",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[], kind = "take") {
          const priced = original.call(this, demand, kind);
          const owned = demand[this.owner.index]!; // one a band
          const isBeyond = this.bands.some(
            ({ plan, index }) => plan.isWindow && owned > 0 && demand[index]! > owned,
          );
          return isBeyond && "step" in priced ? this.capacityRefusal(demand) : priced;
        },
    ),
};
