// Placing floats between what stays: low to high, the slack shared evenly between the gaps, the remainder higher.

/** A span of pages on a band's own grid. @internal */
export type PageSpan = readonly [first: number, count: number];

/** What placement needs to know of a band. @internal */
export interface PlacedGrid {
  readonly grow: "up" | "down" | "float";
  readonly pageBytes: number;
  readonly pages: number;
  readonly firstPage: number;
}

/**
 * Checks that the spans that stay are in order, and places floats with a need among them.
 *
 * @param spans - [bands] spans that stay; a float to be placed has count 0
 * @param needs - [bands] pages of each float to be placed, else 0
 * @returns [bands] all spans, or null where they do not fit. A float with neither pages nor need is `[pages, 0]`.
 */
export function placeFloats(
  bands: readonly PlacedGrid[],
  spans: readonly PageSpan[],
  needs: readonly number[],
): readonly PageSpan[] | null {
  let placed: PageSpan[] | null = null; // a copy of `spans` once a float is placed
  let cursor = 0;
  let waiting: number[] | null = null; // floats to place above the cursor, low to high
  for (let index = 0; index < bands.length; index++) {
    const band = bands[index]!; // index is in range
    const [first, count] = spans[index]!;
    if (needs[index]! > 0) {
      (waiting ??= []).push(index);
      continue;
    }
    if (band.grow === "float") {
      if (count === 0) continue;
      if (first < band.firstPage || first + count > band.pages) return null;
    }
    const limit = first * band.pageBytes;
    if (waiting !== null) {
      placed ??= [...spans];
      if (!placeBetween(bands, needs, waiting, cursor, limit, placed)) return null;
      waiting = null;
    } else if (limit < cursor) {
      return null;
    }
    cursor = (first + count) * band.pageBytes;
  }
  return placed ?? spans; // the last band is an end: nothing waits above it
}

/**
 * Places floats in the bytes `[cursor, limit)`. Each gets the low page `lo + floor((hi - lo - need) / (k + 1))`, where
 * k counts the floats still to place, itself included, and `hi` is what the ones above leave when packed high.
 */
function placeBetween(
  bands: readonly PlacedGrid[],
  needs: readonly number[],
  floats: readonly number[],
  cursor: number,
  limit: number,
  placed: PageSpan[],
): boolean {
  const ceilings: number[] = []; // first byte above each float, those above it packed high
  let top = limit;
  for (let rank = floats.length - 1; rank >= 0; rank--) {
    const index = floats[rank]!; // rank is in range
    const band = bands[index]!;
    ceilings[rank] = top;
    top = (Math.min(Math.floor(top / band.pageBytes), band.pages) - needs[index]!) * band.pageBytes;
  }
  for (const [rank, index] of floats.entries()) {
    const band = bands[index]!; // from the caller's list
    const need = needs[index]!;
    const low = Math.max(Math.ceil(cursor / band.pageBytes), band.firstPage);
    const high = Math.min(Math.floor(ceilings[rank]! / band.pageBytes), band.pages);
    const slack = high - low - need;
    if (slack < 0) return false;
    const start = low + Math.floor(slack / (floats.length - rank + 1));
    placed[index] = [start, need];
    cursor = (start + need) * band.pageBytes;
  }
  return true;
}
