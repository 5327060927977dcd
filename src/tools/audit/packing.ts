// Whether any layout holds a demand, from counts of pages alone.
import type { BandGeometry } from "../../base/operations.js";

/** Pages of one band: in use, asked for, and how many more its grid and its ids could name. @internal */
export interface BandCount {
  readonly live: number;
  readonly wanted: number;
  readonly room: number;
}

/** Whether any layout of the grids, low to high, holds what is live and what is wanted: ends packed, floats packed low one
 * after the other, which gives each the lowest place that any layout could give it. @internal */
export function packs(
  grids: readonly Pick<BandGeometry, "grow" | "page_bytes" | "pages" | "first_page">[],
  counts: readonly BandCount[],
): boolean {
  let below = 0; // bytes
  for (const [index, grid] of grids.entries()) {
    const { live, wanted, room } = counts[index]!; // one a band
    if (wanted > 0 && wanted > room) return false;
    const pages = live + wanted;
    if (grid.grow === "float" && pages === 0) continue;
    const low = Math.max(Math.ceil(below / grid.page_bytes), grid.first_page);
    const first =
      grid.grow === "down" ? grid.pages - pages : grid.grow === "up" ? grid.first_page : low;
    if (first * grid.page_bytes < below || first + pages > grid.pages) return false;
    below = (first + pages) * grid.page_bytes;
  }
  return true;
}
