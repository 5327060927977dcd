// A leaf may go when no window of it is locked.
import { TreeNode } from "../../src/kv/cache/tree-node.js";
import { patchGetter } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "evicts-locked-leaf",
  about:
    "a leaf whose full slot a request locks is evicted once its windows are not locked any more",
  row: null,
  where: "kv",
  plant: () =>
    patchGetter(
      TreeNode.prototype,
      "isLocked",
      (original) =>
        function (this: TreeNode): boolean {
          return original.call(this) && this.locks.reduce((sum, count) => sum + count, 0) > 1;
        },
    ),
};
