// The prefix tree: cached prefixes, one slot a sub-pool and node. It keeps nodes, lock counts, orders of use and their
// digest; what an eviction frees, and who asks, is decided by the operations.
import { append } from "../../base/append.js";
import { type Lanes, LaneSum } from "../../base/digest.js";
import type { Key } from "../../base/operations.js";
import type { Component } from "../component.js";
import { addNodeCells, addPageCells, TREE_FIELD } from "./tree-cells.js";
import { compareKeys, hashPages, type KeyPiece, KeyReader, textOf } from "./tree-key.js";
import { LockTable, type PathLock } from "./tree-locks.js";
import { TreeNode } from "./tree-node.js";
import { UseOrder } from "./tree-order.js";
import { type TreeShape, type TreeSlot, treeSlots } from "./tree-slot.js";

/** @internal */
export class PrefixTree implements Component {
  readonly slots: readonly TreeSlot[]; // tree order
  readonly full: TreeSlot;
  readonly windows: readonly TreeSlot[]; // tree order
  readonly state: TreeSlot | null;
  readonly pageTokens: number;
  readonly root: TreeNode;
  readonly orders: readonly UseOrder[]; // [bands]
  /** [bands] Units on the device in the tree, and those of them that no lock holds: pages, slots for state. */
  readonly held: number[];
  readonly evictable: number[];
  readonly locks: LockTable;
  readonly cells = new LaneSum();
  readonly digesting: boolean;
  /** Called after a node was cut in two; host pages are cut already. */
  onSplit: (upper: TreeNode, lower: TreeNode) => void = () => undefined;
  nodes = 0; // the root is not counted
  uses = 0; // operations that used the tree so far
  #usedAt = -1; // number of the last of them
  version = 0;

  constructor(shape: TreeShape) {
    this.slots = treeSlots(shape);
    this.full = this.slots.find((slot) => slot.kind === "full")!; // every plan has an owner
    this.windows = this.slots.filter((slot) => slot.kind === "window");
    this.state = this.slots.find((slot) => slot.kind === "state") ?? null;
    this.pageTokens = shape.pageTokens;
    this.digesting = shape.digesting;
    this.root = new TreeNode({
      bands: this.slots.length,
      key: [],
      from: 0,
      to: 0,
      pageHashes: [],
      parent: null,
      made: 0,
    });
    this.root.pages = [];
    this.orders = shape.plans.map((_, band) => new UseOrder(band));
    this.held = shape.plans.map(() => 0);
    this.evictable = shape.plans.map(() => 0);
    this.locks = new LockTable(this);
  }

  /**
   * The number of the use under way, for every `use` below. Only operations that use the tree count, so that questions
   * and refusals in between change no later digest. @param operation - number of the operation under way
   */
  useOf(operation: number): number {
    if (operation !== this.#usedAt) {
      this.#usedAt = operation;
      this.uses += 1;
    }
    return this.uses;
  }

  /** Units of one slot that a node holds on the device. */
  unitsOf(node: TreeNode, slot: TreeSlot): number {
    if (slot.kind === "state") return node.slot === 0 ? 0 : 1;
    if (slot.kind === "window" && !node.windows[slot.band]!) return 0;
    return node.pages?.length ?? 0;
  }

  /** The node that ends at token `len` of a key, cut there if needed; null where the tree has no such path. */
  nodeAt(key: Key, len: number): TreeNode | null {
    const found = this.reach(key, len);
    if (found === null) return null;
    return found.to === len ? found : this.split(found, len);
  }

  /** The node that holds the token before `len` of a key, device or not; null where the tree has no such path. */
  reach(key: Key, len: number): TreeNode | null {
    if (len % this.pageTokens !== 0) return null;
    const reader = new KeyReader(key);
    let node = this.root;
    while (node.to < len) {
      const child = node.childFor(reader, this.pageTokens);
      if (child === null) return null;
      const wanted = Math.min(child.to, len) - child.from;
      if (reader.agreement(child.key) < wanted) return null;
      reader.skip(wanted);
      node = child;
    }
    return node;
  }

  /** Cuts a node at token `at` inside it, a page's start; returns the upper half, which is new. */
  split(node: TreeNode, at: number): TreeNode {
    this.#leave(node);
    const upper = node.split(at, this.pageTokens);
    const pages = upper.pageHashes.length;
    for (const { band, kind } of this.slots) {
      if (kind === "state") continue; // the state, its locks and its host copy are those of the end
      upper.used[band] = node.used[band]!;
      upper.windows[band] = node.windows[band]!;
      upper.locks[band] = node.locks[band]!;
      const host = node.host[band] ?? null;
      if (host === null) continue;
      upper.host[band] = host.slice(0, pages);
      node.host[band] = host.slice(pages);
    }
    upper.hostLocks = node.hostLocks;
    this.nodes += 1;
    this.#join(upper);
    this.#join(node);
    for (const slot of this.slots)
      if (this.unitsOf(upper, slot) > 0) this.orders[slot.band]!.addBehind(upper, node);
    this.onSplit(upper, node);
    return upper;
  }

  /** Makes a node below `parent`, on no device yet. `key` is its own part, whole pages. */
  grow(parent: TreeNode, key: readonly KeyPiece[], tokens: number, use: number): TreeNode {
    const node = new TreeNode({
      bands: this.slots.length,
      key,
      from: parent.to,
      to: parent.to + tokens,
      pageHashes: hashPages(key, this.pageTokens, parent.pathHash),
      parent,
      made: use,
    });
    parent.children.set(textOf(new KeyReader(key).slice(this.pageTokens)), node);
    this.nodes += 1;
    this.#join(node);
    return node;
  }

  /** Puts a node on the device under these virtual ids, one a page. Its parent is there. */
  attach(node: TreeNode, pages: number[], use: number): void {
    this.#change(node, () => (node.pages = pages));
    if (this.digesting) addPageCells(this.cells, node, TREE_FIELD.page, pages);
    this.#enter(node, this.full, use);
  }
  /** Takes a node off the device; its windows and its state are gone already. */
  detach(node: TreeNode): void {
    const pages = node.pages ?? [];
    if (this.digesting) addPageCells(this.cells, node, TREE_FIELD.page, pages, -1);
    this.orders[this.full.band]!.remove(node);
    this.#change(node, () => (node.pages = null));
  }
  /** Says that a window's pages are bound to the node's ids, or no longer. */
  setWindow(node: TreeNode, slot: TreeSlot, isBound: boolean, use: number): void {
    if (node.windows[slot.band] === isBound) return;
    if (!isBound) this.orders[slot.band]!.remove(node);
    this.#change(node, () => (node.windows[slot.band] = isBound));
    if (isBound) this.#enter(node, slot, use);
  }
  /** Gives the node a state slot, 0 takes it away. */
  setState(node: TreeNode, id: number, use: number): void {
    if (this.state === null || node.slot === id) return;
    if (node.slot !== 0) this.orders[this.state.band]!.remove(node);
    this.#change(node, () => (node.slot = id));
    if (id !== 0) this.#enter(node, this.state, use);
  }
  /** Notes the finished host copy of one band, null takes it away. */
  setHost(node: TreeNode, band: number, pages: readonly number[] | null): void {
    const before = node.host[band] ?? null;
    if (this.digesting && before !== null)
      addPageCells(this.cells, node, TREE_FIELD.host + band, before, -1);
    this.#change(node, () => (node.host[band] = pages));
    if (this.digesting && pages !== null)
      addPageCells(this.cells, node, TREE_FIELD.host + band, pages);
  }
  addHostLocks(node: TreeNode, count: number): void {
    this.#change(node, () => (node.hostLocks += count));
  }
  /** Adds lock counts by band. */
  addLocks(node: TreeNode, counts: readonly number[]): void {
    this.#change(node, () => {
      for (const [band, count] of counts.entries()) node.locks[band]! += count;
    });
  }

  /** Removes a node without children that is neither on the device nor on the host. */
  remove(node: TreeNode): void {
    this.#leave(node);
    this.nodes -= 1;
    this.version += 1;
    node.parent?.children.delete(textOf(new KeyReader(node.key).slice(this.pageTokens)));
    node.parent = null;
  }

  /** Makes `use` the last one of the path to `end`: of full all of it, of a window its last
   * `window + page` tokens, of state the end. */
  touch(end: TreeNode, use: number): void {
    for (let node = end; !node.isRoot; node = node.parent!) {
      for (const slot of this.slots) {
        const reach = slot.kind === "window" ? slot.window + this.pageTokens : 0;
        const isReached =
          slot.kind === "full" || (slot.kind === "state" ? node === end : node.to > end.to - reach);
        if (!isReached || this.unitsOf(node, slot) === 0) continue;
        this.orders[slot.band]!.remove(node);
        this.#enter(node, slot, use);
      }
    }
  }

  /** Locks the path to `node` until `release`: full to the root, each window over its last tokens, state on the node. */
  lock(node: TreeNode): PathLock {
    return this.locks.take(node);
  }
  release(lock: PathLock): void {
    this.locks.release(lock);
  }

  /** Every node but the root, parents before children, children in key order. */
  *walk(): Generator<TreeNode> {
    const stack = [...childrenInOrder(this.root)];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      yield node;
      append(stack, childrenInOrder(node));
    }
  }

  digestInto(sum: LaneSum, layout: boolean): void {
    if (this.nodes === 0) return;
    sum.add(TREE_FIELD.nodes, 0, this.nodes);
    for (const [band, units] of this.held.entries()) sum.add(TREE_FIELD.held, band, units);
    if (!layout) return;
    sum.join(this.cells);
  }

  /** The cells recomputed from content, to check the running sum against. */
  recomputed(): LaneSum {
    const sum = new LaneSum();
    if (!this.digesting) return sum;
    for (const node of this.walk()) {
      addNodeCells(sum, node, this.slots);
      if (node.pages !== null) addPageCells(sum, node, TREE_FIELD.page, node.pages);
      for (const [band, pages] of node.host.entries())
        if (pages !== null) addPageCells(sum, node, TREE_FIELD.host + band, pages);
    }
    this.locks.addCells(sum);
    return sum;
  }

  #enter(node: TreeNode, slot: TreeSlot, use: number): void {
    if (node.used[slot.band] !== use) this.#change(node, () => (node.used[slot.band] = use));
    this.orders[slot.band]!.add(node);
  }

  /** Changes a node, with its cells and its part of the counts. */
  #change(node: TreeNode, apply: () => void): void {
    this.#leave(node);
    apply();
    this.#join(node);
  }
  #leave(node: TreeNode): void {
    this.#count(node, -1);
  }
  #join(node: TreeNode): void {
    this.#count(node, 1);
  }
  #count(node: TreeNode, sign: 1 | -1): void {
    for (const slot of this.slots) {
      const units = sign * this.unitsOf(node, slot);
      this.held[slot.band]! += units;
      const isFree = slot.kind === "full" ? !node.isLocked : node.locks[slot.band] === 0;
      if (isFree) this.evictable[slot.band]! += units;
    }
    if (this.digesting) {
      const cells: Lanes & LaneSum = NODE_CELLS;
      cells.a = 0;
      cells.b = 0;
      addNodeCells(cells, node, this.slots);
      this.cells.a = (this.cells.a + sign * cells.a) | 0;
      this.cells.b = (this.cells.b + sign * cells.b) | 0;
    }
    this.version += 1;
  }
}

const NODE_CELLS = new LaneSum(); // reused: one node at a time

function childrenInOrder(node: TreeNode): readonly TreeNode[] {
  const children = [...node.children.values()];
  if (children.length < 2) return children;
  return children.sort((left, right) => compareKeys(right.key, left.key)); // the first is popped first
}
