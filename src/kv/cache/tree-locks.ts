// Locks on paths of the prefix tree: counts on the nodes, and who holds them. A lock remembers where its part of each
// window begins, so that its end takes back exactly what it took, however the path was cut meanwhile.
import { hashName, type LaneSum } from "../../base/digest.js";
import { TREE_FIELD } from "./tree-cells.js";
import type { TreeNode } from "./tree-node.js";
import type { TreeSlot } from "./tree-slot.js";

/** One lock of the path to a node. A node keeps its end when it is cut, so the lock stays at the same length. @internal */
export interface PathLock {
  readonly node: TreeNode;
  readonly windowFrom: readonly number[]; // [bands] first token whose window it locks
  readonly serial: number; // locks taken before it
}

/** What locks need of the tree that they are in. @internal */
export interface LockedTree {
  readonly slots: readonly TreeSlot[];
  readonly windows: readonly TreeSlot[];
  readonly cells: LaneSum;
  readonly digesting: boolean;
  version: number;
  /** Changes a node's lock counts, by band index. */
  addLocks(node: TreeNode, counts: readonly number[]): void;
}

/** Every lock that is held. @internal */
export class LockTable {
  readonly #tree: LockedTree;
  #serial = 0;
  readonly #all = new Set<PathLock>();
  readonly #own = new Map<string, PathLock>(); // by request: the lock of its protected length
  readonly #named = new Map<string, PathLock[]>(); // by holder, in the order of taking

  constructor(tree: LockedTree) {
    this.#tree = tree;
  }

  get all(): ReadonlySet<PathLock> {
    return this.#all;
  }
  /** Holders of named locks, in the order of the oldest one that each still holds. */
  get holders(): readonly string[] {
    const oldest = (holder: string): number => this.#named.get(holder)![0]!.serial; // none is empty
    return [...this.#named.keys()].sort((left, right) => oldest(left) - oldest(right));
  }
  named(holder: string): readonly PathLock[] {
    return this.#named.get(holder) ?? [];
  }
  /** The lock of a request's protected length; undefined where that is 0. */
  own(request: string): PathLock | undefined {
    return this.#own.get(request);
  }

  take(node: TreeNode): PathLock {
    const windowFrom = this.#tree.slots.map(() => node.to);
    for (let at = node; !at.isRoot; at = at.parent!) {
      for (const { band, window } of this.#tree.windows)
        if (at.to > node.to - window) windowFrom[band] = at.from;
    }
    return this.restore({ node, windowFrom });
  }

  /** Takes a lock that a loaded state had; in the order in which they were taken. */
  restore({ node, windowFrom }: Omit<PathLock, "serial">): PathLock {
    const lock: PathLock = { node, windowFrom, serial: this.#serial++ };
    this.#all.add(lock);
    this.#count(lock, 1);
    return lock;
  }

  /** Ends a lock, which must be held. */
  release(lock: PathLock): void {
    this.#all.delete(lock);
    this.#count(lock, -1);
  }

  /** Moves a request's own lock to a node, or ends it; the root needs none. */
  setOwn(request: string, node: TreeNode | null): void {
    const before = this.#own.get(request);
    if (node !== null && !node.isRoot) this.#own.set(request, this.take(node));
    else this.#own.delete(request);
    if (before !== undefined) this.release(before);
  }
  restoreOwn(request: string, lock: PathLock): void {
    this.#own.set(request, lock);
  }

  addNamed(holder: string, lock: PathLock): void {
    const locks = this.#named.get(holder);
    if (locks === undefined) this.#named.set(holder, [lock]);
    else locks.push(lock);
    this.#mark(holder, lock, 1);
  }
  /** Ends the holder's newest lock at a node; false where it has none. */
  dropNamed(holder: string, node: TreeNode): boolean {
    const locks = this.#named.get(holder) ?? [];
    const index = locks.findLastIndex((lock) => lock.node === node);
    if (index < 0) return false;
    const [lock] = locks.splice(index, 1) as [PathLock]; // found there
    if (locks.length === 0) this.#named.delete(holder);
    this.#mark(holder, lock, -1);
    this.release(lock);
    return true;
  }

  /** Ends every lock under a request's name, its own included. */
  dropAll(name: string): void {
    this.setOwn(name, null);
    for (const lock of this.#named.get(name) ?? []) {
      this.#mark(name, lock, -1);
      this.release(lock);
    }
    this.#named.delete(name);
  }

  /** Adds one cell a named lock. */
  addCells(sum: LaneSum): void {
    for (const [holder, locks] of this.#named) {
      for (const { node } of locks) sum.add(TREE_FIELD.holder, hashName(holder), node.pathHash);
    }
  }

  #mark(holder: string, { node }: PathLock, sign: 1 | -1): void {
    const { cells, digesting } = this.#tree;
    this.#tree.version += 1;
    if (!digesting) return;
    if (sign > 0) cells.add(TREE_FIELD.holder, hashName(holder), node.pathHash);
    else cells.remove(TREE_FIELD.holder, hashName(holder), node.pathHash);
  }

  #count(lock: PathLock, sign: 1 | -1): void {
    const counts = this.#tree.slots.map(() => 0);
    for (let node = lock.node; !node.isRoot; node = node.parent!) {
      for (const { band, kind } of this.#tree.slots) {
        const isLocked =
          kind === "full" ||
          (kind === "state" ? node === lock.node : node.from >= lock.windowFrom[band]!);
        counts[band] = isLocked ? sign : 0;
      }
      this.#tree.addLocks(node, counts);
    }
  }
}
