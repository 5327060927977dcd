// A float absorbs only if it has another number of holes than at its last look.
import { FloatBand } from "../../src/kv/alloc/float-band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "absorb-by-hole-count",
  about:
    "boundary holes of a float stay when a take and a free in between left the count of holes as it was",
  row: 21,
  where: "kv",
  plant: () => {
    const seen = new WeakMap<FloatBand, number>();
    return patchMethod(
      FloatBand.prototype,
      "absorb",
      (original) =>
        function (this: FloatBand): number {
          if (seen.get(this) === this.holes.length) return 0;
          const absorbed = original.call(this);
          seen.set(this, this.holes.length);
          return absorbed;
        },
    );
  },
};
