// "A list of two needs no sort": absorbing takes the outermost hole from the end of an unsorted list.
import { PAGE } from "../../src/kv/alloc/band.js";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "blind-absorb-of-two",
  about: "an end absorbs boundary holes from a list of two holes without sorting it first",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      EndBand.prototype,
      "absorb",
      (original) =>
        function (this: EndBand): number {
          if (this.holes.length !== 2) return original.call(this);
          let absorbed = 0;
          while (this.span > 0 && this.status[this.pageAt(this.span - 1)] === PAGE.hole) {
            this.leave(this.isUp ? this.holes.pop() : this.holes.shift());
            this.span -= 1;
            absorbed += 1;
          }
          if (absorbed > 0) this.epoch += 1;
          return absorbed;
        },
    ),
};
