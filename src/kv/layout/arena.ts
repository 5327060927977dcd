// The arena as a whole: how long its backing is, what it is filled with, and which view a layer reaches.
import type { KVPart } from "../decl/types.js";
import { pageBytesOf } from "../sizing/floor.js";
import type { KVStoragePlan } from "../plan/plan.js";
import type { EntryLayout } from "./entry.js";
import { entryLayout } from "./entry.js";
import type { SubPoolViews } from "./views.js";
import { subPoolViews } from "./views.js";

/** A bf16 NaN in every 16-bit word: reads that multiply unwritten rows by zero show up at once. @public */
export const POISON_WORD = 0x7fc1;

/** The arena of a plan: entries, views, backing. @public */
export interface ArenaLayout {
  readonly arenaBytes: number; // all page math uses this
  readonly backingBytes: number; // what is allocated: the arena and the pad of shifted views
  readonly entries: readonly EntryLayout[]; // chain order
  readonly views: readonly SubPoolViews[]; // chain order
}

/** Lays a plan out over `arenaBytes`. @param kernelRows - shifted views for MHA as well. @public */
export function arenaLayout(
  plan: KVStoragePlan,
  arenaBytes: number,
  kernelRows = false,
): ArenaLayout {
  const entries = plan.subPools.map(entryLayout);
  const views = plan.subPools.map((pool, index) => {
    const pages = Math.floor(arenaBytes / pageBytesOf(plan, pool));
    // entries and sub-pools are the same list
    return subPoolViews(entries[index]!, pages, kernelRows);
  });
  const padBytes = views.reduce((most, view) => Math.max(most, view.tailPadBytes), 0);
  return { arenaBytes, backingBytes: arenaBytes + padBytes, entries, views };
}

/** Where one part of a layer is stored. @public */
export interface LayerRoute {
  readonly role: KVPart["role"];
  readonly layer: number; // 0-based in its own model
  readonly subPool: string;
  readonly index: number; // of the layer in the sub-pool
}

/** The one routed view through which layers reach their sub-pools: target before draft, ascending layers, attention
 * before state. @public */
export function layerRoutes(plan: KVStoragePlan): LayerRoute[] {
  const routes = plan.subPools.flatMap((pool) =>
    pool.parts.map((part, index) => ({
      role: part.role,
      layer: part.layer,
      subPool: pool.name,
      index,
      rank: (part.role === "draft" ? 2 : 0) + (pool.kind === "state" ? 1 : 0),
    })),
  );
  return routes
    .sort(
      (left, right) =>
        Number(left.role === "draft") - Number(right.role === "draft") ||
        left.layer - right.layer ||
        left.rank - right.rank,
    )
    .map(({ role, layer, subPool, index }) => ({ role, layer, subPool, index }));
}
