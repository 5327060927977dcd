// Which entry of the prefix tree goes next. Order: last use, of one use the deepest first, then the oldest node.
import type { Evictor } from "../admission/reclaim.js";
import type { PrefixTree } from "./prefix-tree.js";
import type { TreeSlot } from "./tree-slot.js";
import type { TreeNode } from "./tree-node.js";
import { compareUse } from "./tree-order.js";

/** One entry that may go. @internal */
export interface Victim {
  readonly node: TreeNode;
  readonly slot: TreeSlot; // full: the whole leaf
}

/** The eviction walk of one operation. @internal */
export class TreeEvictor implements Evictor {
  readonly #tree: PrefixTree;
  readonly #isJoint: boolean;
  readonly #free: (victim: Victim) => number;
  /** Nodes removed so far. */
  nodes = 0;

  /**
   * @param isJoint - leaves and windows go from one list
   * @param free - frees an entry; returns the nodes that are gone
   */
  constructor(tree: PrefixTree, isJoint: boolean, free: (victim: Victim) => number) {
    this.#tree = tree;
    this.#isJoint = isJoint;
    this.#free = free;
  }

  evictable(): readonly number[] {
    return this.#tree.evictable;
  }

  evictNext(short: number | null): boolean {
    const { full, windows, state, slots } = this.#tree;
    const shortSlot = slots.find(({ band }) => band === short);
    const rest = state === null ? windows : [...windows, state];
    return (
      (shortSlot !== undefined && this.evictOf(shortSlot)) ||
      this.evictOf(full) ||
      this.#evictOldest(rest)
    );
  }

  /** Evicts the next entry of a slot; of the joint list where there is one. False where none is left. */
  evictOf(slot: TreeSlot): boolean {
    return this.#evictOldest(this.#isJoint ? this.#tree.slots : [slot]);
  }

  /** Evicts the oldest entry of several slots; of one use the slot that comes first. */
  #evictOldest(slots: readonly TreeSlot[]): boolean {
    let oldest: Victim | null = null;
    for (const slot of slots) {
      const node = this.#oldestOf(slot);
      if (node === null) continue;
      if (oldest === null || compareUse(node, slot.band, oldest.node, oldest.slot.band) < 0)
        oldest = { node, slot };
    }
    if (oldest === null) return false;
    this.nodes += this.#free(oldest);
    return true;
  }

  #oldestOf(slot: TreeSlot): TreeNode | null {
    const order = this.#tree.orders[slot.band]!; // one a band
    if (this.#tree.evictable[slot.band] === 0) return null;
    for (let node = order.first; node !== null; node = order.after(node))
      if (isVictim(node, slot)) return node;
    return null;
  }
}

/** A node that any slot locks is no whole leaf to evict. */
function isVictim(node: TreeNode, slot: TreeSlot): boolean {
  if (slot.kind !== "full") return node.locks[slot.band] === 0;
  return !node.isLocked && node.isDeviceLeaf;
}
