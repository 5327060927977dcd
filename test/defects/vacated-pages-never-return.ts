// Vacated pages are looked at when a forward retires, not when a transfer ends.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "vacated-pages-never-return",
  about:
    "a vacated page or a fence that only waited for a copy or a transfer is not given back when that ends",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "endOperation",
      (original) =>
        function (this: ChainAllocator): void {
          this.ledger.endedSome = false;
          original.call(this);
        },
    ),
};
