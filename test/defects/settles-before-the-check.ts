// A take that needs pending pages settles them before it knows whether the rest fits.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "settles-before-the-check",
  about: "a take that is refused has settled pending pages",
  row: 29,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "price",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[], kind = "take") {
          if (kind === "take")
            for (const band of this.bands) {
              const wanted = demand[band.index]!; // one a band
              while (wanted > band.holes.length && band.pending.length > 0)
                this.scope.wait(band.settleOldest());
            }
          return original.call(this, demand, kind);
        },
    ),
};
