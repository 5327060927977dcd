// A fence is taken for the bytes of a page of the smallest grid.
import { Band } from "../../src/kv/alloc/band.js";
import { FenceList } from "../../src/kv/alloc/fences.js";
import type { Signal } from "../../src/kv/alloc/signals.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";

export const defect: Defect = {
  name: "fence-of-half-a-page",
  about:
    "a fence covers only the first half of the page that left, so that a neighbour on another grid grows into the rest",
  row: null,
  where: "kv",
  plant: () => {
    let isLeaving = false;
    return undoAll(
      patchMethod(
        Band.prototype,
        "leave",
        (original) =>
          function (this: Band, page: number, readers: readonly Signal[] = []): void {
            isLeaving = true;
            original.call(this, page, readers);
            isLeaving = false;
          },
      ),
      patchMethod(
        FenceList.prototype,
        "add",
        (original) =>
          function (this: FenceList, from: number, to: number, readers: readonly Signal[]): void {
            const end = isLeaving ? from + Math.ceil((to - from) / 2) : to;
            original.call(this, from, end, readers);
          },
      ),
    );
  },
};
