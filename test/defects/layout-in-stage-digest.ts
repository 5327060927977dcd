// The frontiers of the own stage are folded with the answer.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "layout-in-stage-digest",
  about: "the digest that stages compare depends on where the own stage's pages lie",
  row: 51,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "price",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[], kind = "take") {
          const priced = original.call(this, demand, kind);
          const frontiers = this.bands.map((band) => band.spanFirst);
          this.stages?.fold("layout", frontiers, "step" in priced);
          return priced;
        },
    ),
};
