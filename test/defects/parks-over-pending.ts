// A float that has no live page parks, whatever is pending.
import { FloatBand } from "../../src/kv/alloc/float-band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "parks-over-pending",
  about:
    "a float without live pages leaves its span while pages of it are pending, and neighbours grow over them",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      FloatBand.prototype,
      "parkIfEmpty",
      (original) =>
        function (this: FloatBand): boolean {
          if (this.live > 0 || this.pendingPages === 0) return original.call(this);
          for (const { pages } of this.pending) for (const page of pages) this.status[page] = 0; // beyond
          this.pending.length = 0;
          this.pendingPages = 0;
          return original.call(this);
        },
    ),
};
