// One rank walks its holes in another order.
import { Band } from "../../src/kv/alloc/band.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "holes-by-hash-on-one-rank",
  about: "released pages join the hole list in another order on one of the ranks",
  row: null,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        Band.prototype,
        "releasePendingThrough",
        (original) =>
          function (this: Band, launch: number): number[] {
            const released = original.call(this, launch);
            if (underWay.rank !== 0 || released.length !== this.holes.length) return released;
            this.holes.replace(this.holes.toArray().reverse());
            this.epoch += 1;
            return released;
          },
      ),
    );
  },
};
