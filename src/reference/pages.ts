// What happens to single pages: freed, returned, parked, absorbed, handed out. Places only; who reads them is the
// business of signals.
import type { MovePair } from "../base/effects.js";
import { fencePage, isOver, keepersOf, usersOf } from "./signals.js";
import { ascending, type Band, liveCount, pendingCount, type World } from "./world.js";
import { append as appendTo } from "../base/append.js";

/** A float without a live, pending or vacated page: its neighbours see through it. @internal */
export function isTransparent(band: Band): boolean {
  return (
    band.grow === "float" &&
    liveCount(band) === 0 &&
    pendingCount(band) === 0 &&
    band.vacated.length === 0
  );
}

/** Pages given back: to the pending batch of the newest unprocessed forward, else to the tail of the holes. @internal */
export function giveBack(world: World, band: Band, pages: readonly number[]): void {
  if (pages.length === 0) return;
  const newest = world.forwards.findLast((forward) => forward.isRecorded);
  const last = band.pending.at(-1);
  if (newest === undefined) appendTo(band.holes, pages);
  else if (last?.key === newest.name) appendTo(last.pages, pages);
  else band.pending.push({ key: newest.name, pages: [...pages] });
}

/** The oldest pending batches, until `count` pages are had, become holes. Returns the forwards they waited for. @internal */
export function settlePending(band: Band, count: number): string[] {
  const keys: string[] = [];
  let missing = count;
  while (missing > 0 && band.pending.length > 0) {
    const batch = band.pending.shift()!; // there is one
    keys.push(batch.key);
    appendTo(band.holes, batch.pages);
    missing -= batch.pages.length;
  }
  return keys;
}

/**
 * What every operation ends with: readers that are over are forgotten, vacated pages without one become holes, fences
 * without one vanish, empty floats are parked. @internal
 */
export function tidyUp(world: World): void {
  world.fences = world.fences.filter((fence) => !isOver(world, fence.reader));
  for (const band of world.bands) {
    const isKept = (page: number): boolean => keepersOf(world, band, page).length > 0;
    appendTo(
      band.holes,
      band.vacated.filter((page) => !isKept(page)),
    );
    band.vacated = band.vacated.filter(isKept);
    parkIfEmpty(world, band);
  }
}

/** @internal */
export function parkIfEmpty(world: World, band: Band): void {
  if (!isTransparent(band)) return;
  leaveSpan(world, band, band.holes);
  band.low = band.pages;
  band.high = band.pages;
}

/** Holes and vacated pages leave the span; the bytes stay guarded by whoever uses them. @internal */
export function leaveSpan(world: World, band: Band, pages: readonly number[]): void {
  for (const page of pages) fencePage(world, band, page, usersOf(world, band, page));
  const left = new Set(pages);
  band.holes = band.holes.filter((page) => !left.has(page));
  band.vacated = band.vacated.filter((page) => !left.has(page));
}

/** Takes the holes at the frontier (of a float: at both edges) out of the span; returns how many. @internal */
export function absorbEdges(world: World, band: Band): number {
  const absorbed: number[] = [];
  const holes = new Set(band.holes);
  if (band.grow !== "up") while (holes.delete(band.low)) absorbed.push(band.low++);
  if (band.grow !== "down") while (holes.delete(band.high - 1)) absorbed.push(--band.high);
  leaveSpan(world, band, absorbed);
  if (band.grow === "float" && absorbed.length > 0) band.holes.sort(ascending);
  return absorbed.length;
}

/** Rebinds pages that moved at once: no source of one pair is the target of another. @internal */
export function rebind(band: Band, moves: readonly MovePair[]): void {
  const ids = new Map(band.bindings.entries().map(([id, page]) => [page, id]));
  for (const [from, to] of moves) {
    const id = ids.get(from);
    if (id === undefined) throw new Error(`${band.name} has no id for page ${from}`);
    band.bindings.set(id, to);
  }
}

/** Checks that every page of the span is exactly one of live, hole, pending, vacated. @internal */
export function isConserved(band: Band): boolean {
  const times = new Uint32Array(band.high - band.low); // by page of the span
  let outside = 0;
  const see = (page: number): void => {
    if (page < band.low || page >= band.high) outside += 1;
    else times[page - band.low]! += 1; // inside
  };
  band.bindings.forEach((_, page) => {
    see(page);
  });
  for (const pages of [band.reserved, band.holes, band.vacated]) pages.forEach(see);
  for (const { pages } of band.pending) pages.forEach(see);
  return outside === 0 && times.every((count) => count === 1);
}
