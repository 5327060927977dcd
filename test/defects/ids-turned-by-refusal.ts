// A take advances the list of ids before it knows whether it gets the pages.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "ids-turned-by-refusal",
  about: "a refused take puts the oldest free virtual id at the end of the list",
  row: 8,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "price",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[], kind = "take") {
          const priced = original.call(this, demand, kind);
          const { free } = this.virtual;
          if (kind === "take" && !("step" in priced) && free.length > 1) {
            free.push(free.shift());
            this.owner.epoch += 1;
          }
          return priced;
        },
    ),
};
