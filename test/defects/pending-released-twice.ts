// The first page of a released batch is listed twice.
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "pending-released-twice",
  about:
    "processing a forward returns the first page of a batch of several to the hole list twice, so that it is handed out twice",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "settleOldest",
      (original) =>
        function (this: Band) {
          const pages = this.pending[0]?.pages ?? [];
          const forward = original.call(this);
          if (pages.length > 2) this.addHole(pages[0]!); // there are three
          return forward;
        },
    ),
};
