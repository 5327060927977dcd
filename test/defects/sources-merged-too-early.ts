// A flush adds the pages that it left to the hole list before it takes out those that it filled.
import { Band } from "../../src/kv/alloc/band.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "sources-merged-too-early",
  about:
    "after a flush of a grow-down end with several moves the hole list has a page that was filled in place of one that was left",
  row: 17,
  where: "kv",
  plant: () => {
    let filled: number[] | null = null;
    return undoAll(
      patchMethod(
        ChainAllocator.prototype,
        "flush",
        (original) =>
          function (this: ChainAllocator) {
            filled = [];
            try {
              return original.call(this);
            } finally {
              filled = null;
            }
          },
      ),
      patchMethod(
        Band.prototype,
        "rebind",
        (original) =>
          function (this: Band, source: number, target: number, clock: number): void {
            if (this.plan.grow === "down") filled?.push(target);
            original.call(this, source, target, clock);
          },
      ),
      patchMethod(
        Band.prototype,
        "addHole",
        (original) =>
          function (this: Band, page: number): void {
            original.call(this, page);
            if (this.plan.grow !== "down" || filled === null || filled.length < 2) return;
            this.holes.pop();
            this.holes.push(filled.pop()!); // it has two
          },
      ),
    );
  },
};
