// What other bands could evict is not counted for a band that is short.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "credit-of-short-bands-only",
  about:
    "an eviction for a demand is refused though entries of a band outside the demand would free the bytes",
  row: 44,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "fitsReclaimed",
      (original) =>
        function (
          this: ChainAllocator,
          demand: readonly number[],
          credit: readonly number[],
          kind = "fits_reclaimed",
        ): boolean {
          const own = credit.map((pages, index) => (demand[index]! > 0 ? pages : 0));
          return original.call(this, demand, kind === "fits_reclaimed" ? own : credit, kind);
        },
    ),
};
