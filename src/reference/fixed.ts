// Pages that stay where they are: those of load reservations always, those of transfers in relief's first attempt.
import { type Faults } from "./refusal.js";
import { published, transfersOn } from "./signals.js";
import {
  type Band,
  bandNamed,
  type FreedUnit,
  livePages,
  type Request,
  type World,
} from "./world.js";

/** Pages of loads whose reservation has not ended, and what waits to be freed without an id. They never move. @internal */
export function fixedByLoads(world: World, band: Band): number[] {
  const reserved = world.loads
    .filter((load) => load.reservedBands.includes(band.name))
    .flatMap((load) => load.parts)
    .filter((part) => part.band === band.name)
    .flatMap(({ units }) => units)
    .map(({ id, page }) => band.bindings.get(id) ?? page);
  return [...new Set([...reserved, ...band.reserved])];
}

/** Notes what of these units is still reserved for a load; only the load itself may give that up. @internal */
export function checkReserved(
  world: World,
  request: Request,
  units: readonly FreedUnit[],
  faults: Faults,
): void {
  const unit = units.find((candidate) => isReservedUnit(world, candidate));
  if (unit === undefined) return;
  const { name: req } = request;
  const isState = bandNamed(world, unit.band).role === "state";
  const place = { req, band: unit.band };
  const page = request.virtual.indexOf(unit.id);
  faults.add("free_outside_reservation", isState ? place : { ...place, page });
}

function isReservedUnit(world: World, { band: name, id }: FreedUnit): boolean {
  const { role } = bandNamed(world, name);
  if (role === "window") return false; // an id ends the reservation of a window page
  return world.loads.some(({ parts }) => {
    const own = parts.find(({ band }) => band === name);
    return own?.units.some((unit) => unit.id === id) === true;
  });
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
  const live = new Set(used.length === 0 ? [] : livePages(band));
  return [
    ...heldPages(world, band),
    ...used.filter((page) => live.has(page)),
    ...band.vacated.filter((page) => transfersOn(world, band, page, ["send"]).length > 0),
  ];
}
