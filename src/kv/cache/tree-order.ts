// Nodes of one slot by last use: the oldest use first, of one operation's the deepest first, then the oldest node.
import type { TreeNode } from "./tree-node.js";

/** The order in which one slot's entries go. A node is in it while it holds that slot. @internal */
export class UseOrder {
  readonly #band: number;
  #first: TreeNode | null = null;
  #last: TreeNode | null = null;

  constructor(band: number) {
    this.#band = band;
  }

  get first(): TreeNode | null {
    return this.#first;
  }
  after(node: TreeNode): TreeNode | null {
    return node.next[this.#band] ?? null;
  }

  /** Puts a node in by its `used`; looks back only over later uses, and over those of the same operation. */
  add(node: TreeNode): void {
    const band = this.#band;
    let previous = this.#last;
    while (previous !== null && goesBefore(node, previous, band))
      previous = previous.previous[band] ?? null;
    const next = previous === null ? this.#first : (previous.next[band] ?? null);
    node.previous[band] = previous;
    node.next[band] = next;
    if (previous === null) this.#first = node;
    else previous.next[band] = node;
    if (next === null) this.#last = node;
    else next.previous[band] = node;
  }

  /** Puts the new upper half of a split in, right behind the lower one: of one use the deeper goes first. */
  addBehind(upper: TreeNode, lower: TreeNode): void {
    const band = this.#band;
    const next = lower.next[band] ?? null;
    upper.previous[band] = lower;
    upper.next[band] = next;
    lower.next[band] = upper;
    if (next === null) this.#last = upper;
    else next.previous[band] = upper;
  }

  remove(node: TreeNode): void {
    const band = this.#band;
    const previous = node.previous[band] ?? null;
    const next = node.next[band] ?? null;
    if (previous === null) this.#first = next;
    else previous.next[band] = next;
    if (next === null) this.#last = previous;
    else next.previous[band] = previous;
    node.previous[band] = null;
    node.next[band] = null;
  }
}

/** Whether a node goes before another of the same slot. @internal */
export function goesBefore(node: TreeNode, other: TreeNode, band: number): boolean {
  return compareUse(node, band, other, band) < 0;
}

/** Order of two entries, perhaps of different slots: last use, deepest first, oldest node. @internal */
export function compareUse(
  left: TreeNode,
  leftBand: number,
  right: TreeNode,
  rightBand: number,
): number {
  const use = left.used[leftBand]! - right.used[rightBand]!; // one a band
  if (use !== 0) return use;
  return left.to === right.to ? left.made - right.made : right.to - left.to;
}
