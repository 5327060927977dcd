// Every band's part of a demand is asked by itself.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "bands-priced-alone",
  about:
    "a demand of several bands fits where each of them alone does: the shared gap is counted once for each",
  row: 40,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "fits",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[]): boolean {
          return demand.every(
            (pages, index) =>
              pages === 0 ||
              original.call(
                this,
                demand.map((other, at) => (at === index ? other : 0)),
              ),
          );
        },
    ),
};
