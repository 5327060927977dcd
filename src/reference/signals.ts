// Who may still read or write a page, and the waits that follow. Uses are places: where a page lay when a forward was
// launched, a copy submitted, a transfer published. Waiting a forward retires it and every earlier one; a copy once waited
// is over; a transfer is waited on the host.
import type { Band, Copy, Forward, Transfer, World } from "./world.js";

/** Forwards that were neither waited nor processed, oldest first. Without overlap there is none. @internal */
export function unretired(world: World): Forward[] {
  return world.forwards.filter((forward) => forward.isRecorded && !forward.isRetired);
}

function openCopies(world: World): Copy[] {
  return world.copies.filter((copy) => !copy.isWaited);
}

/** @internal */
export function published(world: World): Transfer[] {
  return world.transfers.filter((transfer) => transfer.isPublished);
}

function usesPlace(use: Copy | Transfer, band: Band, page: number): boolean {
  return use.places.some((place) => place.band === band.name && place.page === page);
}

/** Forwards that read a page, oldest first. @internal */
export function forwardsReading(world: World, band: Band, page: number): string[] {
  const readers = unretired(world).filter((forward) =>
    (forward.reads[band.name] ?? []).includes(page),
  );
  return readers.map(({ name }) => name);
}

/** Copies that use a page: those that read it, those that write it, or both. @internal */
export function copiesOn(
  world: World,
  band: Band,
  page: number,
  directions: readonly Copy["direction"][] = ["out", "in"],
): string[] {
  return openCopies(world)
    .filter((copy) => directions.includes(copy.direction) && usesPlace(copy, band, page))
    .map(({ name }) => name);
}

/** Published transfers that use a page. @internal */
export function transfersOn(
  world: World,
  band: Band,
  page: number,
  directions: readonly Transfer["direction"][] = ["send", "receive"],
): string[] {
  return published(world)
    .filter((use) => directions.includes(use.direction) && usesPlace(use, band, page))
    .map(({ name }) => name);
}

/** Forwards and sends that may still read a page: while there is one its place is not written again. @internal */
export function keepersOf(world: World, band: Band, page: number): string[] {
  return [...forwardsReading(world, band, page), ...transfersOn(world, band, page, ["send"])];
}

/** Everybody who uses a page's bytes. @internal */
export function usersOf(world: World, band: Band, page: number): string[] {
  return [
    ...forwardsReading(world, band, page),
    ...copiesOn(world, band, page),
    ...transfersOn(world, band, page),
  ];
}

/** Whether a move may wait a running forward and transfers. @internal */
export type Urgency = "urgent" | "opportunistic";

/**
 * What must be waited before these pages are copied away: copies into them; when it is urgent also the newest forward, if
 * one may still write, and every transfer of them. @internal
 */
export function writersOf(
  world: World,
  band: Band,
  pages: readonly number[],
  urgency: Urgency,
): string[] {
  if (pages.length === 0) return [];
  const signals = pages.flatMap((page) => copiesOn(world, band, page, ["in"]));
  if (urgency === "opportunistic") return signals;
  signals.push(...pages.flatMap((page) => transfersOn(world, band, page)));
  const running = unretired(world);
  if (running.some((forward) => writesOne(forward, band, pages)))
    signals.push(running.at(-1)!.name); // one of them writes, so there is a last one
  return signals;
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

/** Waits what is not over: transfers on the host, the newest forward, which covers the earlier ones, copies by age. @internal */
export function waitFor(world: World, signals: readonly string[]): void {
  const isMeant = ({ name }: { readonly name: string }): boolean => signals.includes(name);
  for (const transfer of published(world).filter(isMeant)) needHostWait(world, transfer);
  const newest = unretired(world).filter(isMeant).at(-1);
  if (newest !== undefined) {
    world.fx.push(["wait", newest.name]);
    retireThrough(world, newest);
  }
  for (const copy of openCopies(world).filter(isMeant)) {
    world.fx.push(["wait", copy.name]);
    copy.isWaited = true;
  }
}

// A relief waits its transfers before all else, so by now none is left but while a plan is tried.
function needHostWait(world: World, transfer: Transfer): void {
  if (world.hostNeeds === null) throw new Error(`${transfer.name} was not waited in time`);
  if (!world.hostNeeds.includes(transfer.name)) world.hostNeeds.push(transfer.name);
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
  const isMeant = ({ name }: { readonly name: string }): boolean => name === signal;
  return !(
    unretired(world).some(isMeant) ||
    openCopies(world).some(isMeant) ||
    published(world).some(isMeant)
  );
}
