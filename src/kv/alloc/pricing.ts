// Pure capacity pricing over a snapshot of counts and frontiers, never hole positions: would a demand fit, by which
// rearrangement step, and with which spans.
import type { Step } from "../../base/operations.js";
import { type PageSpan, placeFloats } from "./placement.js";

/** One band as pricing sees it. An empty float has a span of count 0 and is transparent. @internal */
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
  /** Ends: pages from the base through the farthest fixed one, 0 where none is. Floats: 1 if a page is fixed, else 0. */
  pinned: number;
  /** Vacated pages that stay where they are; an end packs around them. */
  kept: number;
}

/** Bytes `[from, to)`. @internal */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}
const OPEN: readonly ByteRange[] = [];

/** A layout that serves a demand: spans `[first, count]` by band, chain order. @internal */
export interface ChainPlan {
  readonly step: Step;
  readonly spans: readonly PageSpan[];
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

/**
 * The least rearrangement that serves the demand, or null. The index cap is checked first. While nothing is fixed each
 * step serves what the one before it serves; with fixed pages any of the three may be the only one.
 *
 * @param blocked - bytes that no band may come to cover
 * @internal
 */
export function firstPlan(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
  blocked: readonly ByteRange[] = OPEN,
): ChainPlan | null {
  if (indexShortage(bands, demand) >= 0) return null;
  return (
    planNoMove(bands, demand, blocked) ??
    planFlushEnds(bands, demand, blocked) ??
    planRelayout(bands, demand, blocked)
  );
}

/** Whether any reachable layout serves the demand. @internal */
export function feasible(bands: readonly BandSnapshot[], demand: readonly number[]): boolean {
  return firstPlan(bands, demand) !== null;
}

/** NO_MOVE: holes and pending pages are reused, ends extend on their growth side, floats on one side. @internal */
export function planNoMove(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
  blocked: readonly ByteRange[] = OPEN,
): ChainPlan | null {
  let grows = false;
  const spans: PageSpan[] = [];
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const fresh = Math.max(0, demand[index]! - band.free);
    if (fresh > 0) grows = true;
    const low = band.grow === "down" ? band.spanFirst - fresh : band.spanFirst;
    spans.push(
      band.grow === "float" ? [band.spanFirst, band.spanCount] : [low, band.spanCount + fresh],
    );
  }
  // Where nothing grows the bands stay as they are, whatever the gap.
  if (!grows) return { step: "no_move", spans };
  const served = layFloats(bands, spans, demand, false, blocked);
  return served === null ? null : { step: "no_move", spans: served };
}

/** FLUSH_ENDS: ends packed, all their demand fresh; floats as in NO_MOVE. @internal */
export function planFlushEnds(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
  blocked: readonly ByteRange[] = OPEN,
): ChainPlan | null {
  const served = layFloats(bands, packedEnds(bands, demand), demand, false, blocked);
  return served === null ? null : { step: "flush_ends", spans: served };
}

/** RELAYOUT: ends packed, every float with pages or demand placed anew between them; one that holds a fixed page stays
 * and grows as in NO_MOVE. @internal */
export function planRelayout(
  bands: readonly BandSnapshot[],
  demand: readonly number[],
  blocked: readonly ByteRange[] = OPEN,
): ChainPlan | null {
  const served = layFloats(bands, packedEnds(bands, demand), demand, true, blocked);
  return served === null ? null : { step: "relayout", spans: served };
}

const NO_NEEDS: readonly number[] = [0, 0];

/** Spans with both ends packed and grown; floats as they stand. Packing reaches at least to the farthest fixed page. */
function packedEnds(bands: readonly BandSnapshot[], demand: readonly number[]): PageSpan[] {
  const spans: PageSpan[] = [];
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const count = Math.max(band.live + band.kept, band.pinned) + demand[index]!;
    if (band.grow === "float") spans.push([band.spanFirst, band.spanCount]);
    else spans.push([band.grow === "down" ? band.pages - count : band.firstPage, count]);
  }
  return spans;
}

/**
 * Lays floats out inside a layout of grown ends. A float that stays grows to one side, the preferred one first, the
 * lowest float's preference weighing most; floats without pages, and under `anew` all that may move, are placed in what
 * is left.
 */
function layFloats(
  bands: readonly BandSnapshot[],
  ends: PageSpan[],
  demand: readonly number[],
  anew: boolean,
  blocked: readonly ByteRange[],
): readonly PageSpan[] | null {
  const accept = (spans: readonly PageSpan[] | null): readonly PageSpan[] | null =>
    spans === null || entersAny(bands, spans, blocked) ? null : spans;
  if (bands.length <= 2) return accept(placeFloats(bands, ends, NO_NEEDS)); // two ends: nothing to choose
  const growing: number[] = [];
  const needs: number[] = [];
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const wanted = demand[index]!;
    needs.push(0);
    if (band.grow !== "float") continue;
    if (anew && band.pinned === 0) {
      needs[index] = band.live + wanted;
      ends[index] = [band.pages, 0];
    } else if (band.spanCount === 0) needs[index] = wanted;
    else if (wanted > band.free) growing.push(index);
  }
  if (growing.length === 0) return accept(placeFloats(bands, ends, needs));
  const prefersLow = growing.map((index) => hasLargerLowGap(bands, index));
  for (let choice = 0; choice < 2 ** growing.length; choice++) {
    const spans = [...ends];
    for (const [rank, index] of growing.entries()) {
      const band = bands[index]!; // from the loop above
      const fresh = demand[index]! - band.free;
      // The lowest float is the choice's highest bit: its second side is tried last.
      const isOther = (choice >> (growing.length - 1 - rank)) % 2 === 1;
      const isLow = prefersLow[rank]! !== isOther;
      spans[index] = [isLow ? band.spanFirst - fresh : band.spanFirst, band.spanCount + fresh];
    }
    const served = accept(placeFloats(bands, spans, needs));
    if (served !== null) return served;
  }
  return null;
}

/** Whether a layout makes a band cover blocked bytes that it does not cover now. */
function entersAny(
  bands: readonly BandSnapshot[],
  spans: readonly PageSpan[],
  blocked: readonly ByteRange[],
): boolean {
  if (blocked.length === 0) return false;
  return bands.some((band, index) => {
    const [first, count] = spans[index]!; // one span a band
    const end = first + count;
    const oldEnd = band.spanFirst + band.spanCount;
    const meets = (from: number, to: number): boolean =>
      from < to &&
      blocked.some((range) => range.from < to * band.pageBytes && range.to > from * band.pageBytes);
    if (band.spanCount === 0 || end <= band.spanFirst || first >= oldEnd) return meets(first, end);
    return meets(first, band.spanFirst) || meets(oldEnd, end);
  });
}

/** Whether a float's gap below, in its own pages as the chain stands, is larger than the one above. */
function hasLargerLowGap(bands: readonly BandSnapshot[], index: number): boolean {
  const band = bands[index]!; // the caller's index
  let below = index - 1;
  while (bands[below]!.spanCount === 0 && bands[below]!.grow === "float") below -= 1; // the ends are opaque
  let above = index + 1;
  while (bands[above]!.spanCount === 0 && bands[above]!.grow === "float") above += 1;
  const lower = bands[below]!;
  const upper = bands[above]!;
  const floorByte = (lower.spanFirst + lower.spanCount) * lower.pageBytes;
  const ceilingByte = upper.spanFirst * upper.pageBytes;
  const low = band.spanFirst - Math.max(Math.ceil(floorByte / band.pageBytes), band.firstPage);
  const high =
    Math.min(Math.floor(ceilingByte / band.pageBytes), band.pages) -
    (band.spanFirst + band.spanCount);
  return low > high;
}
