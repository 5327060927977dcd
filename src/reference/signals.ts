// Who may still read or write a page, and the waits that follow. A forward's uses are the places its rows held at its
// launch. Waiting a forward retires it and every earlier one.
import type { Band, Forward, World } from "./world.js";

/** Forwards that were neither waited nor processed, oldest first. Without overlap there is none. @internal */
export function unretired(world: World): Forward[] {
  return world.forwards.filter((forward) => forward.isRecorded && !forward.isRetired);
}

/** Signals of everybody who may still read this page's bytes, oldest forward first. @internal */
export function readersOf(world: World, band: Band, page: number): string[] {
  return unretired(world)
    .filter((forward) => (forward.reads[band.name] ?? []).includes(page))
    .map((forward) => forward.name);
}

/** What must be waited before these pages are copied away: the newest forward, if any may still write one. @internal */
export function writersOf(world: World, band: Band, pages: readonly number[]): string[] {
  const running = unretired(world);
  if (pages.length === 0 || !running.some((forward) => writesOne(forward, band, pages))) return [];
  return [running.at(-1)!.name]; // one of them writes, so there is a last one
}

/** @internal */
export function writesOne(forward: Forward, band: Band, pages: readonly number[]): boolean {
  if (forward.hasUnknownWrites) return true;
  const written = forward.writes[band.name] ?? [];
  return pages.some((page) => written.includes(page));
}

/** Readers of the bytes `[from, to)` where no page is live. @internal */
export function fencesOver(world: World, from: number, to: number): string[] {
  return world.fences
    .filter((fence) => fence.from < to && from < fence.to)
    .map((fence) => fence.reader);
}

/** Readers of the bytes of a page that is about to be written. @internal */
export function fencesOfPage(world: World, band: Band, page: number): string[] {
  return fencesOver(world, page * band.pageBytes, (page + 1) * band.pageBytes);
}

/** Guards a page's bytes, which leave the band's span. @internal */
export function fencePage(
  world: World,
  band: Band,
  page: number,
  readers: readonly string[],
): void {
  const from = page * band.pageBytes;
  for (const reader of readers) world.fences.push({ from, to: from + band.pageBytes, reader });
}

/** Waits what is not over yet: the newest forward only, which covers the earlier ones. @internal */
export function waitFor(world: World, signals: readonly string[]): void {
  const newest = unretired(world)
    .filter((forward) => signals.includes(forward.name))
    .at(-1);
  if (newest !== undefined) {
    world.fx.push(["wait", newest.name]);
    retireThrough(world, newest);
  }
}

/** @internal */
export function retireThrough(world: World, last: Forward): void {
  for (const forward of world.forwards) {
    if (forward.isRecorded && !forward.isRetired) {
      forward.isRetired = true;
      world.retired = forward.name;
    }
    if (forward === last) break;
  }
}

/** Whether the work behind a signal is over, as far as readers go. @internal */
export function isOver(world: World, signal: string): boolean {
  const forward = world.forwards.find((candidate) => candidate.name === signal);
  return forward === undefined || forward.isRetired;
}
