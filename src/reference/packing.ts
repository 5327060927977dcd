// Packing an end against its base: which pages would move where. Pure, so that a plan can count what a flush will do.
import type { MovePair } from "../base/effects.js";
import { ascending, type Band, liveCount, livePages } from "./world.js";

/** Pages from the base to the frontier once the end is packed around what stays, live or vacated. @internal */
export function occupiedWhenPacked(band: Band, fixed: readonly number[]): number {
  const distances = fixed.map((page) =>
    band.grow === "up" ? page - band.low + 1 : band.high - page,
  );
  const kept = band.vacated.filter((page) => fixed.includes(page));
  return Math.max(liveCount(band) + kept.length, ...distances);
}

/**
 * The moves that pack an end: survivors from the frontier inwards, each into the free page nearest to the base, until the
 * two meet. `free` are pages that may be filled; `isMovable` stops the walk where it says `stop`. @internal
 */
export function packingMoves(
  band: Band,
  free: readonly number[],
  judge: (page: number) => "move" | "skip" | "stop",
  most: number = Infinity,
): MovePair[] {
  const sign = band.grow === "up" ? 1 : -1; // away from the base
  const targets = [...free].sort((left, right) => sign * (left - right));
  const survivors = livePages(band).sort((left, right) => sign * (right - left));
  const moves: MovePair[] = [];
  for (const source of survivors) {
    const verdict = judge(source);
    if (verdict === "stop" || moves.length >= most) break;
    if (verdict === "skip") continue;
    const target = targets[moves.length];
    if (target === undefined || sign * target > sign * source) break;
    moves.push([source, target]);
  }
  return moves;
}

/**
 * The moves that bring a float's pages, in order, to a block from `start` on. One list a batch: pages that overlap their
 * own targets go one at a time, up-moves from the top, then down-moves from the bottom, so that no page is
 * overwritten before it has moved. @internal
 */
export function shiftMoves(band: Band, start: number): MovePair[][] {
  const moves = livePages(band)
    .sort(ascending)
    .map((page, index): MovePair => [page, start + index])
    .filter(([from, to]) => from !== to);
  const sources = moves.map(([from]) => from);
  const isDisjoint = !moves.some(([, to]) => sources.includes(to));
  if (isDisjoint) return moves.length === 0 ? [] : [moves];
  const up = moves.filter(([from, to]) => to > from).reverse();
  const down = moves.filter(([from, to]) => to < from);
  return [...up, ...down].map((move) => [move]);
}
