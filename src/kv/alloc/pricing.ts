// Pure capacity pricing over a snapshot of counts and frontiers, never hole positions: would a demand fit, by which
// rearrangement step, and with which spans.
import type { Step } from "../../base/operations.js";

/** One band as pricing sees it. @internal */
export interface BandSnapshot {
  readonly grow: "up" | "down" | "float";
  readonly pageBytes: number;
  readonly pages: number;
  readonly firstPage: number;
  live: number; // pages
  free: number; // holes and pending pages
  vacated: number; // pages
  spanFirst: number;
  spanCount: number;
}

/** A layout that serves a demand: spans `[first, count]` by band, chain order. @internal */
export interface ChainPlan {
  readonly step: Step;
  readonly spans: readonly (readonly [first: number, count: number])[];
}

/** Index of the first band whose grid has no room for the demand, or -1:
 * `live + vacated + demand <= pages - first_page` holds for every step. @internal */
export function indexShortage(bands: readonly BandSnapshot[], demand: readonly number[]): number {
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const wanted = demand[index]!;
    if (wanted > 0 && band.live + band.vacated + wanted > band.pages - band.firstPage) return index;
  }
  return -1;
}

/** The least rearrangement that serves the demand, or null. The index cap is checked first. @internal */
export function firstPlan(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
): ChainPlan | null {
  if (indexShortage(bands, demand) >= 0) return null;
  return planNoMove(bands, demand) ?? planFlushEnds(bands, demand);
}

/** NO_MOVE: holes and pending pages are reused, ends extend on their growth side. @internal */
export function planNoMove(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
): ChainPlan | null {
  let grows = false;
  const spans: (readonly [number, number])[] = [];
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const fresh = Math.max(0, demand[index]! - band.free);
    if (fresh > 0) grows = true;
    spans.push([
      band.grow === "down" ? band.spanFirst - fresh : band.spanFirst,
      band.spanCount + fresh,
    ]);
  }
  // Where nothing grows the bands stay as they are, whatever the gap.
  return !grows || inOrder(bands, spans) ? { step: "no_move", spans } : null;
}

/** FLUSH_ENDS: ends packed to their live pages, all demand fresh. @internal */
export function planFlushEnds(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
): ChainPlan | null {
  const spans: (readonly [number, number])[] = [];
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const count = band.live + demand[index]!;
    spans.push([band.grow === "down" ? band.pages - count : band.firstPage, count]);
  }
  return inOrder(bands, spans) ? { step: "flush_ends", spans } : null;
}

/** A band's own bytes must begin at or above the end of the band below it. */
function inOrder(
  bands: readonly BandSnapshot[],
  spans: readonly (readonly [number, number])[],
): boolean {
  let cursor = 0;
  for (let index = 0; index < bands.length; index++) {
    const { pageBytes } = bands[index]!; // index is in range
    const [first, count] = spans[index]!;
    if (first * pageBytes < cursor) return false;
    cursor = (first + count) * pageBytes;
  }
  return true;
}
