// Fixing and unfixing a page leaves the band's epoch as it is.
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "reservation-not-in-memo",
  about: "the capacity snapshot is not read again when a reservation begins or ends",
  row: 43,
  where: "kv",
  plant: () =>
    undoAll(
      ...(["fix", "unfix"] as const).map((name) =>
        patchMethod(
          Band.prototype,
          name,
          (original) =>
            function (this: Band, page: number): void {
              const { epoch } = this;
              original.call(this, page);
              this.epoch = epoch;
            },
        ),
      ),
    ),
};
