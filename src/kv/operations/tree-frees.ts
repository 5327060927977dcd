// Frees of what the prefix tree holds: entries of one slot, and whole leaves. All of them are logical frees.
import { dropPath } from "../cache/host-eviction.js";
import type { TreeSlot } from "../cache/tree-slot.js";
import type { TreeNode } from "../cache/tree-node.js";
import type { KvCore } from "../core.js";

/** Frees a window's pages of a node, which keeps its full ones. @internal */
export function freeWindow(core: KvCore, node: TreeNode, slot: TreeSlot): void {
  const band = core.chain.bands[slot.band]!; // a slot's band
  for (const virtual of node.pages ?? []) core.freeBandPage(band, virtual);
  core.tree.setWindow(node, slot, false, core.tree.uses);
}

/** Frees a node's state. @internal */
export function freeState(core: KvCore, node: TreeNode): void {
  const slot = node.slot;
  core.tree.setState(node, 0, core.tree.uses);
  core.freeSlot(slot);
}

/** Frees all that a device leaf holds there. A node with a host copy stays, on the host only. Returns the nodes that are
 * gone. @internal */
export function freeLeaf(core: KvCore, node: TreeNode): number {
  const { chain, tree } = core;
  const pages = node.pages ?? [];
  for (const virtual of pages) {
    for (const { band } of tree.windows)
      if (node.windows[band]!) core.freeBandPage(chain.bands[band]!, virtual);
    core.freeBandPage(chain.owner, virtual);
    core.retireVirtual(virtual);
  }
  for (const slot of tree.windows) tree.setWindow(node, slot, false, tree.uses);
  if (node.slot !== 0) freeState(core, node);
  tree.detach(node);
  return node.host[tree.full.band] === null ? dropPath(core, node) : 0;
}
