// How far a key matches: the deepest place where every slot validates. A search changes nothing.
import type { Key } from "../../base/operations.js";
import type { PrefixTree } from "./prefix-tree.js";
import type { TreeSlot } from "./tree-slot.js";
import { KeyReader } from "./tree-key.js";
import type { TreeNode } from "./tree-node.js";

/** @internal */
export interface TreeMatch {
  readonly len: number; // tokens, whole pages, on the device
  readonly end: TreeNode; // holds the token before `len`; the root where that is 0
  /** [bands] Tokens to which each slot validates alone, on the device and with finished host copies counted. */
  readonly slots: readonly number[];
  readonly host: readonly number[];
}

/**
 * Finds the longest prefix of a key that validates: full is there all the way, each window at least over its last
 * `window` tokens (from the root always), the state at the end. Ends are nodes' ends, or a page's end inside the last
 * node that agrees; a state never validates there. @internal
 */
export function searchTree(tree: PrefixTree, key: Key): TreeMatch {
  const reader = new KeyReader(key);
  const device = new Validity(tree, (node, slot) => tree.unitsOf(node, slot) > 0);
  const host = new Validity(
    tree,
    (node, slot) => tree.unitsOf(node, slot) > 0 || node.host[slot.band] !== null,
  );
  let node = tree.root;
  let end = tree.root;
  while (true) {
    const child = node.childFor(reader, tree.pageTokens);
    if (child === null) break;
    const agreed = reader.agreement(child.key);
    const tokens = agreed - (agreed % tree.pageTokens);
    if (device.pass(child, child.from + tokens)) end = child;
    host.pass(child, child.from + tokens);
    if (child.from + tokens < child.to) break;
    reader.skip(tokens);
    node = child;
  }
  return { len: device.all, end, slots: device.alone, host: host.alone };
}

/** Follows one path down and keeps how far its slots validate. */
class Validity {
  readonly #tree: PrefixTree;
  readonly #counts: (node: TreeNode, slot: TreeSlot) => boolean;
  readonly #runs: number[]; // [bands] tokens up to here over which the slot is there; infinite from the root
  readonly alone: number[]; // [bands]
  all = 0;

  constructor(tree: PrefixTree, counts: (node: TreeNode, slot: TreeSlot) => boolean) {
    this.#tree = tree;
    this.#counts = counts;
    this.#runs = tree.slots.map(() => Number.POSITIVE_INFINITY);
    this.alone = tree.slots.map(() => 0);
  }

  /** Goes on to token `to` of a node; true where everything validates there. */
  pass(node: TreeNode, to: number): boolean {
    let isValid = true;
    for (const slot of this.#tree.slots) {
      if (this.#validates(node, slot, to)) this.alone[slot.band] = to;
      else isValid = false;
    }
    if (isValid) this.all = to;
    return isValid;
  }

  #validates(node: TreeNode, slot: TreeSlot, to: number): boolean {
    const isThere = this.#counts(node, slot);
    if (slot.kind === "state") return isThere && to === node.to;
    const run = isThere ? this.#runs[slot.band]! + (to - node.from) : 0; // one a band
    // Full must be there from the root on: a run that broke once stays broken.
    this.#runs[slot.band] = slot.kind === "full" && !isThere ? Number.NEGATIVE_INFINITY : run;
    return slot.kind === "full" ? run === Number.POSITIVE_INFINITY : isThere && run >= slot.window;
  }
}
