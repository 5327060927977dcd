// The slots of the prefix tree: one a sub-pool, in the tree's own order.
import type { BandPlan } from "../memory/geometry.js";

/** One slot of every node. @internal */
export interface TreeSlot {
  readonly kind: "full" | "window" | "state";
  readonly band: number; // place in the chain
  readonly name: string;
  readonly window: number; // tokens; infinite where unknown, 0 for other kinds
}

/** What the tree needs to know of a run. @internal */
export interface TreeShape {
  readonly plans: readonly BandPlan[]; // chain order
  readonly pageTokens: number;
  readonly primaryWindow: string | null; // the window that comes first; null: the longest
  readonly digesting: boolean; // depth layout or deep
}

/** Slots in the tree's order: full, the primary window, the other windows from the longest, state. @internal */
export function treeSlots({ plans, primaryWindow }: TreeShape): readonly TreeSlot[] {
  const slots = plans.map((plan, band): TreeSlot => {
    const kind = plan.kind === "state" ? "state" : plan.isWindow ? "window" : "full";
    const window = kind === "window" ? (plan.window ?? Number.POSITIVE_INFINITY) : 0;
    return { kind, band, name: plan.name, window };
  });
  const rank = (slot: TreeSlot): number =>
    slot.kind === "full" ? 0 : slot.kind === "state" ? 3 : slot.name === primaryWindow ? 1 : 2;
  return slots.sort((left, right) => rank(left) - rank(right) || left.band - right.band);
}
