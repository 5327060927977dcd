// What the prefix tree could give back to an admission pass: all that no lock holds, but what the pass's requests match.
import type { Evictable } from "../admission/prefill-budget.js";
import type { QueueEntry } from "../../base/operations.js";
import { countedMatch } from "../alloc/demand.js";
import type { PrefixTree } from "./prefix-tree.js";
import { searchTree, type TreeMatch } from "./tree-match.js";
import type { TreeNode } from "./tree-node.js";

/** The credit of one pass. Nothing is cut or used: the pass is a question. @internal */
export class TreeCredit implements Evictable {
  readonly #tree: PrefixTree;
  readonly #matches = new Map<QueueEntry, TreeMatch>();
  readonly #kept: Map<TreeNode, number>[]; // [bands] units from a node's start that the pass keeps
  readonly #keptUnits: number[]; // [bands]

  constructor(tree: PrefixTree) {
    this.#tree = tree;
    this.#kept = tree.orders.map(() => new Map<TreeNode, number>());
    this.#keptUnits = tree.orders.map(() => 0);
  }

  matched(entry: QueueEntry): number {
    return this.#matchOf(entry).len;
  }

  credit(entry: QueueEntry): readonly number[] {
    const credit = this.#tree.evictable.map((units, band) => units - this.#keptUnits[band]!);
    this.#eachMatched(entry, (node, band, units) => {
      const before = this.#kept[band]!.get(node) ?? 0;
      credit[band]! -= Math.max(0, units - before);
    });
    return credit;
  }

  keep(entry: QueueEntry): void {
    this.#eachMatched(entry, (node, band, units) => {
      const kept = this.#kept[band]!; // one a band
      const before = kept.get(node) ?? 0;
      if (units <= before) return;
      kept.set(node, units);
      this.#keptUnits[band]! += units - before;
    });
  }

  #matchOf(entry: QueueEntry): TreeMatch {
    let match = this.#matches.get(entry);
    if (match === undefined) {
      match = searchTree(this.#tree, entry.key ?? []);
      this.#matches.set(entry, match);
    }
    return match;
  }

  /** Visits what a lock of the counted match would hold and nothing holds yet: units from each node's start. */
  #eachMatched(
    entry: QueueEntry,
    visit: (node: TreeNode, band: number, units: number) => void,
  ): void {
    const tree = this.#tree;
    const match = this.#matchOf(entry);
    const len = countedMatch({ pageSize: tree.pageTokens }, entry.input, match.len);
    for (let node = match.end; !node.isRoot; node = node.parent!) {
      if (node.from >= len) continue; // computed again: nobody keeps it
      const to = Math.min(node.to, len);
      for (const slot of tree.slots) {
        const isFree = slot.kind === "full" ? !node.isLocked : node.locks[slot.band] === 0;
        const isHere =
          slot.kind === "full" ||
          (slot.kind === "state" ? to === len && to === node.to : to > len - slot.window);
        if (!isFree || !isHere || tree.unitsOf(node, slot) === 0) continue;
        visit(node, slot.band, slot.kind === "state" ? 1 : (to - node.from) / tree.pageTokens);
      }
    }
  }
}
