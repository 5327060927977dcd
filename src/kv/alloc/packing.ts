// How an end is packed, worked out before anything moves: the same answer serves the plan, the question and the flush.
import type { MovePair } from "../../base/effects.js";
import { PAGE } from "./band.js";
import type { EndBand } from "./end-band.js";

/** Pages that stay where they are. @internal */
export type IsFixed = (page: number) => boolean;

/** @internal */
export const nothingFixed: IsFixed = () => false;

/** What packing an end does. @internal */
export interface Packing {
  readonly moves: readonly MovePair[]; // outermost source first, nearest destination first
  readonly span: number; // pages from the base to the frontier afterwards
}

/**
 * Packs live pages towards the base: the outermost one that may move goes to the nearest free page, until the two would
 * cross. Holes, pending pages (settled by then) and vacated pages that may be overwritten are free. Fixed pages stay,
 * live or vacated, and the frontier does not retreat past them. @internal
 */
export function packEnd(band: EndBand, isFixed: IsFixed): Packing {
  const moves: MovePair[] = [];
  let distance = band.span - 1;
  let outermost = -1; // distance of the outermost page that stays
  for (const target of freePages(band, isFixed)) {
    while (distance >= 0 && !isMovable(band, band.pageAt(distance), isFixed)) {
      if (stays(band, band.pageAt(distance), isFixed)) outermost = Math.max(outermost, distance);
      distance -= 1;
    }
    if (distance <= band.distanceOf(target)) break;
    moves.push([band.pageAt(distance), target]);
    distance -= 1;
  }
  while (distance >= 0 && outermost < distance && !stays(band, band.pageAt(distance), isFixed))
    distance -= 1;
  const innermost = moves.at(-1)?.[1];
  const reached = innermost === undefined ? -1 : band.distanceOf(innermost);
  return { moves, span: Math.max(outermost, distance, reached) + 1 };
}

function isMovable(band: EndBand, page: number, isFixed: IsFixed): boolean {
  return band.status[page] === PAGE.live && !isFixed(page);
}

/** Whether a page keeps the frontier where it is. */
function stays(band: EndBand, page: number, isFixed: IsFixed): boolean {
  const status = band.status[page];
  return status === PAGE.live || (status === PAGE.vacated && isFixed(page));
}

/** Free pages that a packing may fill, nearest to the base first. Those farther out than all that stays never are. */
function freePages(band: EndBand, isFixed: IsFixed): number[] {
  const free: number[] = [];
  const movable = band.vacated.filter(({ page }) => !isFixed(page));
  const limit = band.live + band.vacated.length - movable.length;
  const add = (page: number): void => {
    if (band.distanceOf(page) < limit) free.push(page);
  };
  for (let index = 0; index < band.holes.length; index++) add(band.holes.at(index));
  for (const batch of band.pending) for (const page of batch.pages) add(page);
  for (const { page } of movable) add(page);
  return free.sort((left, right) => band.distanceOf(left) - band.distanceOf(right));
}
