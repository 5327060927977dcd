// A match needs a window's pages at its end only.
import { PrefixTree } from "../../src/kv/cache/prefix-tree.js";
import type { TreeSlot } from "../../src/kv/cache/tree-slot.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

function shorten(slot: TreeSlot, tokens: number): void {
  // Read-only by its type alone.
  if (slot.kind === "window") Object.assign(slot, { window: Math.min(slot.window, tokens) });
}

export const defect: Defect = {
  name: "match-ignores-window",
  about:
    "a prefix matches though a part of its window was evicted: every window counts as one page long",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      PrefixTree.prototype,
      "reach",
      (original) =>
        function (this: PrefixTree, ...args: Parameters<PrefixTree["reach"]>) {
          for (const slot of this.windows) shorten(slot, this.pageTokens);
          return original.apply(this, args);
        },
    ),
};
