// The end of one copy or transfer deletes a page's whole list of uses.
import { Band, type PlaceUse } from "../../src/kv/alloc/band.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "blind-last-use-of-page",
  about: "when one of several copies or transfers over a page ends, the others are forgotten there",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "dropUses",
      () =>
        function (this: Band, pages: readonly number[], use: PlaceUse): void {
          for (const page of pages)
            if (this.uses.get(page)?.includes(use) === true) this.uses.delete(page);
          this.epoch += 1;
        },
    ),
};
