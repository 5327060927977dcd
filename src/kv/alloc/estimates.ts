// Scalar estimates for observers: free bytes, index room and id room. They ignore alignment, fixed and pending pages,
// and no decision reads them. What a band holds is exact.
import type { ChainAllocator } from "./chain.js";
import type { BandSnapshot } from "./pricing.js";

/** `held` and `available` in tokens (slots for state), `usage` in whole percent. @internal */
export interface Estimate {
  readonly held: number;
  readonly available: number;
  readonly usage: number;
}

/** One band's estimate; with stages each figure is the least over all of them. @internal */
export function estimateOf(chain: ChainAllocator, index: number): Estimate {
  const band = chain.bands[index]!; // the caller's band
  const units = band.plan.unitsPerPage;
  const held = band.live * units;
  const stages = chain.stageSnapshots();
  const space = band.plan.isOwner ? chain.virtual : band.plan.kind === "state" ? chain.slots : null;
  // a stage has as many ids as its grid has pages
  const ids = stages === null ? (space?.free.length ?? null) : null;
  let available = Number.MAX_SAFE_INTEGER;
  let usage = 100;
  for (const snapshot of stages ?? [chain.snapshot()]) {
    const pages = availablePages(snapshot, index);
    const here = Math.min(pages, ids ?? pages) * units;
    available = Math.min(available, here);
    const total = held + here;
    usage = Math.min(usage, total === 0 ? 0 : Math.floor((100 * held) / total));
  }
  return { held, available, usage };
}

/** Holes, and the pages of the larger gap, as far as the grid has room. */
function availablePages(bands: readonly BandSnapshot[], index: number): number {
  const band = bands[index]!; // the caller's band
  const room = Math.max(0, band.pages - band.firstPage - band.live - band.vacated);
  const gaps = [gapPages(bands, index, -1), gapPages(bands, index, 1)];
  return Math.min(room, band.free + Math.max(0, ...gaps));
}

/** Whole pages of the gap on one side, looking through empty floats; 0 where the band does not grow that way. */
function gapPages(bands: readonly BandSnapshot[], index: number, side: -1 | 1): number {
  const band = bands[index]!; // the caller's band
  if (band.grow === "up" ? side < 0 : band.grow === "down" && side > 0) return 0;
  let at = index + side;
  while (bands[at]?.grow === "float" && bands[at]!.spanCount === 0) at += side;
  const neighbour = bands[at];
  const isEmpty = band.grow === "float" && band.spanCount === 0;
  const own = side < 0 ? band.spanFirst : band.spanFirst + band.spanCount;
  if (side < 0) {
    const floor =
      neighbour === undefined
        ? 0
        : (neighbour.spanFirst + neighbour.spanCount) * neighbour.pageBytes;
    const ceiling = isEmpty ? ceilingOf(bands, index) : own * band.pageBytes;
    // Rounded inwards: what stands beside an empty float is on another grid.
    const first = Math.max(band.firstPage, Math.ceil(floor / band.pageBytes));
    return Math.floor(ceiling / band.pageBytes) - first;
  }
  if (neighbour === undefined || isEmpty) return 0;
  return Math.floor(
    (neighbour.spanFirst * neighbour.pageBytes - own * band.pageBytes) / band.pageBytes,
  );
}

function ceilingOf(bands: readonly BandSnapshot[], index: number): number {
  let at = index + 1;
  while (bands[at]?.grow === "float" && bands[at]!.spanCount === 0) at += 1;
  const above = bands[at];
  return above === undefined ? 0 : above.spanFirst * above.pageBytes; // the last band is an end
}
