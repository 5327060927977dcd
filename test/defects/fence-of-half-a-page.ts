// A fence is taken for the bytes of a page of the smallest grid.
import { FenceList } from "../../src/kv/alloc/fences.js";
import type { Signal } from "../../src/kv/alloc/signals.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "fence-of-half-a-page",
  about:
    "a fence covers only the first half of the page that left, so that a neighbour on another grid grows into the rest",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      FenceList.prototype,
      "add",
      (original) =>
        function (this: FenceList, from: number, to: number, readers: readonly Signal[]): void {
          original.call(this, from, from + Math.ceil((to - from) / 2), readers);
        },
    ),
};
