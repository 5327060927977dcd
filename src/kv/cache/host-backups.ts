// Copies of tree nodes to the host: which slots of a path have none yet, and what becomes of them at the copy's end.
import type { Key } from "../../base/operations.js";
import type { KvCore } from "../core.js";
import type { BackupPart } from "./host-cache.js";
import type { TreeSlot } from "./tree-slot.js";
import type { TreeNode } from "./tree-node.js";

/** What a backup will copy. @internal */
export interface BackupPlan {
  readonly need: number[]; // host pages by band index
  readonly places: number[][]; // device pages by band index
}

/** Pages of the path to token `len` that are on the device and neither on the host nor under copy to it; the path is
 * there. Changes nothing, so a node that `len` cuts counts as far as it reaches. @internal */
export function lackingOnHost(core: KvCore, key: Key, len: number): BackupPlan {
  const { chain, tree, config } = core;
  const places = chain.bands.map((): number[] => []);
  const path: TreeNode[] = [];
  for (let node = tree.reach(key, len)!; !node.isRoot; node = node.parent!) path.unshift(node);
  for (const node of path) {
    for (const slot of tree.slots) {
      if (!isWanted(core, node, slot)) continue;
      const band = chain.bands[slot.band]!; // a slot's band
      if (slot.kind !== "state") {
        const pages = (Math.min(node.to, len) - node.from) / config.pageSize;
        for (const id of node.pages!.slice(0, pages)) places[slot.band]!.push(band.v2p[id]!);
      } else if (node.to <= len) places[slot.band]!.push(band.v2p[node.slot]!);
    }
  }
  return { need: places.map((pages) => pages.length), places };
}

function isWanted(core: KvCore, node: TreeNode, slot: TreeSlot): boolean {
  if (core.tree.unitsOf(node, slot) === 0 || node.host[slot.band] !== null) return false;
  for (const part of core.host.openBackups())
    if (part.node === node && part.host[slot.band] !== null) return false;
  return true;
}

/** Deals host pages out to the nodes of a path, parents first, and locks them. @internal */
export function takeParts(
  core: KvCore,
  key: Key,
  len: number,
  pages: readonly (readonly number[])[],
): BackupPart[] {
  const { tree } = core;
  const path: TreeNode[] = [];
  for (let node = tree.nodeAt(key, len)!; !node.isRoot; node = node.parent!) path.unshift(node);
  const next = pages.map(() => 0);
  const parts: BackupPart[] = [];
  for (const node of path) {
    const host = pages.map((): readonly number[] | null => null);
    for (const slot of tree.slots) {
      if (!isWanted(core, node, slot)) continue;
      const from = next[slot.band]!;
      next[slot.band] = from + tree.unitsOf(node, slot);
      host[slot.band] = pages[slot.band]!.slice(from, next[slot.band]);
    }
    if (host.some((list) => list !== null)) parts.push({ node, host, lock: tree.lock(node) });
  }
  return parts;
}

/** Ends the copy of tree nodes: their host copies count from now on, or their host pages go back. @internal */
export function endParts(core: KvCore, parts: readonly BackupPart[], isDone: boolean): void {
  const { tree, host } = core;
  for (const { node, host: pages, lock } of parts) {
    for (const [band, list] of pages.entries())
      if (isDone && list !== null) tree.setHost(node, band, list);
    if (!isDone) host.pools.give(pages.map((list) => list ?? []));
    if (lock !== null) tree.release(lock);
  }
}
