// A window lock that takes only nodes which lie wholly inside the window.
import { LockTable, type PathLock } from "../../src/kv/cache/tree-locks.js";
import { PrefixTree } from "../../src/kv/cache/prefix-tree.js";
import type { TreeNode } from "../../src/kv/cache/tree-node.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";

export const defect: Defect = {
  name: "blind-lock-inside-node",
  about:
    "the node in which a window begins is not locked in that window, so that its pages can be evicted while a request reads them",
  row: null,
  where: "kv",
  plant: () => {
    const windows = new WeakMap<LockTable, PrefixTree["windows"]>();
    const narrow = (table: LockTable, node: TreeNode, lock: PathLock): PathLock => {
      table.release(lock);
      const windowFrom = [...lock.windowFrom];
      for (const { band, window } of windows.get(table) ?? []) {
        windowFrom[band] = node.to;
        for (let at = node; !at.isRoot && at.from >= node.to - window; at = at.parent!)
          windowFrom[band] = at.from;
      }
      return table.restore({ node, windowFrom });
    };
    return undoAll(
      patchMethod(
        LockTable.prototype,
        "take",
        (original) =>
          function (this: LockTable, node: TreeNode): PathLock {
            return narrow(this, node, original.call(this, node));
          },
      ),
      patchMethod(
        PrefixTree.prototype,
        "useOf",
        (original) =>
          function (this: PrefixTree, operation: number): number {
            windows.set(this.locks, this.windows);
            return original.call(this, operation);
          },
      ),
    );
  },
};
