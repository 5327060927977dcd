// Absorbing goes on over pending pages at the frontier.
import { PAGE } from "../../src/kv/alloc/band.js";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "absorb-through-pending",
  about: "an opportunistic flush retreats the frontier past pending pages",
  row: 19,
  where: "kv",
  plant: () =>
    patchMethod(
      EndBand.prototype,
      "absorb",
      (original) =>
        function (this: EndBand): number {
          const absorbed = original.call(this);
          let past = 0;
          while (this.span > 0 && this.status[this.pageAt(this.span - 1)] === PAGE.pending) {
            this.span -= 1;
            past += 1;
          }
          if (past > 0) this.epoch += 1;
          return absorbed + past;
        },
    ),
};
