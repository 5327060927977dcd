// The hole list is kept in order all the time, not only at a flush.
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "holes-sorted-at-free",
  about: "every free sorts the hole list, so that pages are not reused first in, first out",
  row: 9,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "addHole",
      (original) =>
        function (this: Band, page: number): void {
          original.call(this, page);
          this.holes.sort();
        },
    ),
};
