// What other bands could evict is not counted for a band that is short.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";

export const defect: Defect = {
  name: "credit-of-short-bands-only",
  about:
    "an eviction for a demand is refused though entries of a band outside the demand would free the bytes",
  row: 44,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        ChainAllocator.prototype,
        "fitsReclaimed",
        (original) =>
          function (
            this: ChainAllocator,
            demand: readonly number[],
            credit: readonly number[],
          ): boolean {
            if (underWay.operation?.op !== "tree.evict") return original.call(this, demand, credit);
            const own = credit.map((pages, index) => (demand[index]! > 0 ? pages : 0)); // one a band
            return original.call(this, demand, own);
          },
      ),
    );
  },
};
