// A refusal looks at the bytes alone.
import type { OperationError } from "../../src/base/operations.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "index-shortage-as-bytes",
  about:
    "a band whose grid has no index left is told as short of bytes, which no relayout and no other band's eviction can mend",
  row: 5,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "capacityRefusal",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[]): OperationError {
          return { ...original.call(this, demand), limit: "bytes" };
        },
    ),
};
