// From a virtual token id to what a kernel indexes. Translation never changes physical ids, which moves use: the stride
// belongs to the layout alone.
import type { KVStoragePlan, SubPoolPlan } from "../plan/plan.js";
import type { SubPoolViews } from "./views.js";

/** One rank's part of decode context parallelism. @public */
export interface TokenPlace {
  readonly pageTokens: number; // the scheduler's page size
  readonly contextRanks: number; // tokens of a page go round over these
  readonly rank: number; // 0-based
}

/** A token slot on this rank: virtual page and row, or null where there is none: ids of 0 or less, and tokens that
 * another rank stores. @public */
export function tokenSlot(
  virtualToken: number,
  place: TokenPlace,
): { readonly page: number; readonly row: number } | null {
  if (virtualToken <= 0) return null;
  const offset = virtualToken % place.pageTokens;
  if (offset % place.contextRanks !== place.rank) return null;
  return {
    page: Math.floor(virtualToken / place.pageTokens),
    row: Math.floor(offset / place.contextRanks),
  };
}

/**
 * The kernel id of a virtual token: 0, the sink, for an unbound, negative or foreign one. `physicalPageOf` gives the
 * physical page of a virtual one, 0 or less where it is unbound or out of range. @public
 */
export function kernelId(
  virtualToken: number,
  place: TokenPlace,
  views: SubPoolViews,
  physicalPageOf: (virtualPage: number) => number,
): number {
  const slot = tokenSlot(virtualToken, place);
  if (slot === null) return 0;
  const physical = physicalPageOf(slot.page);
  return physical <= 0 ? 0 : physical * views.pageStride + slot.row;
}

/** The physical token of a virtual one, whatever the views' stride. @public */
export function physicalToken(
  virtualToken: number,
  place: TokenPlace,
  pool: SubPoolPlan,
  physicalPageOf: (virtualPage: number) => number,
): number {
  const slot = tokenSlot(virtualToken, place);
  if (slot === null) return 0;
  const physical = physicalPageOf(slot.page);
  return physical <= 0 ? 0 : physical * pool.rowsPerPage + slot.row;
}

/** The place of a rank in a plan. @public */
export function tokenPlace(plan: KVStoragePlan, rank = 0): TokenPlace {
  return { pageTokens: plan.pageTokens, contextRanks: plan.contextRanks, rank };
}
