// Of the pages that a load reserves only the first of each band stays.
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "one-fixed-page-a-band",
  about: "a reservation fixes one page a band: packing runs past the others, which no id names yet",
  row: 50,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "fix",
      (original) =>
        function (this: Band, page: number): void {
          if (this.fixed.size === 0 || !this.plan.isWindow) original.call(this, page);
        },
    ),
};
