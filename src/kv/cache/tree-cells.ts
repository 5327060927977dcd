// Digest cells of the prefix tree. Nodes and pages are named by a hash of the path up to their end, so that a split
// changes no page's cell. `docs/trace-format.md` lists the cells.
import { LaneSum } from "../../base/digest.js";
import type { TreeNode } from "./tree-node.js";
import type { TreeSlot } from "./tree-slot.js";

/** @internal */
export const TREE_FIELD = {
  nodes: 1,
  held: 2, // index: place in the chain
  from: 16,
  page: 17,
  hostLocks: 18,
  holder: 19, // index: hash of the holder's name
  slot: 64, // + place in the chain
  locks: 128,
  used: 192,
  host: 256,
} as const;

/** A node's own cells, its page lists left out. @internal */
export function addNodeCells(sum: LaneSum, node: TreeNode, slots: readonly TreeSlot[]): void {
  const name = node.pathHash;
  sum.add(TREE_FIELD.from, name, node.from);
  if (node.hostLocks > 0) sum.add(TREE_FIELD.hostLocks, name, node.hostLocks);
  for (const { band, kind } of slots) {
    const value = kind === "state" ? node.slot : node.windows[band]! ? 1 : 0; // one a band
    if (value > 0) sum.add(TREE_FIELD.slot + band, name, value);
    if (node.locks[band]! > 0) sum.add(TREE_FIELD.locks + band, name, node.locks[band]!);
    const isThere = kind === "full" ? node.isOnDevice : value > 0;
    if (isThere || node.host[band] !== null)
      sum.add(TREE_FIELD.used + band, name, node.used[band]!);
  }
}

/** One cell a page of a list that has one page a page of the node, or only one at its end. @internal */
export function addPageCells(
  sum: LaneSum,
  node: TreeNode,
  field: number,
  pages: readonly number[],
  sign: 1 | -1 = 1,
): void {
  for (const [index, page] of pages.entries()) {
    const name = pages.length === 1 ? node.pathHash : node.pageHashes[index]!; // one hash a page
    if (sign > 0) sum.add(field, name, page);
    else sum.remove(field, name, page);
  }
}
