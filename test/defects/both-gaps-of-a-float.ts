// A float is credited with the gaps on both of its sides.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "both-gaps-of-a-float",
  about:
    "a demand of a float alone is said to fit when both gaps together hold it, though a take grows to one side",
  row: 26,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "fits",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[]): boolean {
          const fits = original.call(this, demand);
          const wanted = demand.findIndex((pages) => pages > 0);
          const bands = this.snapshot();
          const band = bands[wanted];
          if (fits || band?.grow !== "float" || demand.filter((pages) => pages > 0).length > 1)
            return fits;
          const below = bands[wanted - 1]!; // ends are on both sides
          const above = bands[wanted + 1]!;
          const room =
            above.spanFirst * above.pageBytes -
            (below.spanFirst + below.spanCount) * below.pageBytes;
          const gaps = Math.floor(room / band.pageBytes) - band.spanCount;
          return demand[wanted]! <= band.free + gaps + 1;
        },
    ),
};
