// A flush goes on for one pair after the pointers cross.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { EndBand } from "../../src/kv/alloc/end-band.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "past-the-crossing",
  about:
    "a flush moves a page outwards past the crossing point, so that holes go back to where they came from",
  row: 18,
  where: "kv",
  plant: () => {
    let isFlushing = false;
    return undoAll(
      patchMethod(
        ChainAllocator.prototype,
        "flush",
        (original) =>
          function (this: ChainAllocator) {
            isFlushing = true;
            try {
              return original.call(this);
            } finally {
              isFlushing = false;
            }
          },
      ),
      patchMethod(
        EndBand.prototype,
        "distanceOf",
        (original) =>
          function (this: EndBand, page: number): number {
            return original.call(this, page) - (isFlushing ? 2 : 0);
          },
      ),
    );
  },
};
