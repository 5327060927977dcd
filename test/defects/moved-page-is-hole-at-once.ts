// A page that a flush left is a hole at once.
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "moved-page-is-hole-at-once",
  about: "the source of a move is a hole at once, though a forward in flight still reads it",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "addVacated",
      () =>
        function (this: Band, page: number): void {
          this.addHole(page);
        },
    ),
};
