// Pages that stay where they are: those of load reservations always, those of transfers in relief's first attempt.
import { published, transfersOn } from "./signals.js";
import { type Band, livePages, type World } from "./world.js";

/** Pages of loads whose reservation has not ended, and what waits to be freed without an id. They never move. @internal */
export function fixedByLoads(world: World, band: Band): number[] {
  const reserved = world.loads
    .filter((load) => load.reservedBands.includes(band.name))
    .flatMap((load) => load.parts)
    .filter((part) => part.band === band.name)
    .flatMap(({ pages }) => pages);
  return [...new Set([...reserved, ...band.reserved])];
}

/** Pages of receives that are not published yet, where they lie now. @internal */
export function heldPages(world: World, band: Band): number[] {
  return world.transfers
    .filter((transfer) => transfer.direction === "receive" && !transfer.isPublished)
    .flatMap((transfer) => transfer.units)
    .filter((unit) => unit.band === band.name)
    .flatMap(({ id }) => band.bindings.get(id) ?? []);
}

/** Live pages that transfers use or that a peer may soon write; vacated pages that a send still reads. @internal */
export function fixedByTransfers(world: World, band: Band): number[] {
  const used = published(world)
    .flatMap((transfer) => transfer.places)
    .filter((place) => place.band === band.name)
    .map(({ page }) => page);
  const live = livePages(band);
  return [
    ...heldPages(world, band),
    ...used.filter((page) => live.includes(page)),
    ...band.vacated.filter((page) => transfersOn(world, band, page, ["send"]).length > 0),
  ];
}
