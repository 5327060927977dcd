// A page that gets another id keeps its old cell in the digest.
import { BAND_FIELD, Band } from "../../src/kv/alloc/band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "rename-keeps-old-cell",
  about: "the running digest of a band does not follow a page that is given to a tree node",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "rename",
      (original) =>
        function (this: Band, ...args: Parameters<Band["rename"]>): void {
          const [from, to] = args;
          const page = this.v2p[from]!; // bound
          original.apply(this, args);
          if (!this.keepsCells) return;
          this.cells.add(BAND_FIELD.binding, from, page);
          this.cells.remove(BAND_FIELD.binding, to, page);
        },
    ),
};
