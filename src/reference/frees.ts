// Frees: units leave their row or purpose at once. In an open group they stay bound until it ends, and while a transfer
// uses their place until that is over. An owner's id goes back when the last of its bands has let go of it.
import type { EndedTransfers, FreedOk } from "../base/operations.js";
import { append, type Lists, pageLists } from "./answers.js";
import { checkNow } from "./forwards.js";
import { giveBack } from "./pages.js";
import { invalid } from "./refusal.js";
import { transfersOn } from "./signals.js";
import { bandNamed, type DeferredUnit, type FreedUnit, tokenBandsOf, type World } from "./world.js";
import { append as appendTo } from "../base/append.js";

/** What a free lists. @internal */
export interface Freed {
  readonly freed: Lists;
  readonly deferred: Lists;
}

/** Frees units in this order, or lets them wait for the group's end. @internal */
export function freeUnits(world: World, units: readonly FreedUnit[]): Freed {
  if (world.group !== null) {
    appendTo(world.group, units);
    return { freed: {}, deferred: {} };
  }
  return release(world, units);
}

function release(world: World, units: readonly FreedUnit[]): Freed {
  const freed: Lists = {};
  const deferred: Lists = {};
  const pages: Lists = {};
  for (const unit of units) {
    const band = bandNamed(world, unit.band);
    const page = unit.page ?? band.bindings.get(unit.id);
    if (page === undefined) throw new Error(`${band.name} has nothing bound to ${unit.id}`);
    const transfers = transfersOn(world, band, page);
    if (transfers.length > 0) {
      world.deferred.push({ ...unit, transfers });
      append(deferred, band.name, page);
      continue;
    }
    band.bindings.delete(unit.id);
    band.reserved = band.reserved.filter((other) => other !== unit.page);
    append(freed, band.name, page);
    append(pages, band.name, page);
  }
  returnIds(world, units, freed, deferred);
  for (const band of world.bands) giveBack(world, band, pages[band.name] ?? []);
  return { freed, deferred };
}

// An id that its owner band let go of goes back once nothing is bound to it any more: in the order of the letting go.
function returnIds(world: World, units: readonly FreedUnit[], freed: Lists, deferred: Lists): void {
  const isMinter = (name: string): boolean => bandNamed(world, name).role !== "window";
  const letGo = units.filter(({ band, id }) => isMinter(band) && id !== 0);
  const fresh = letGo.filter((unit) => !world.letGo.some((other) => isSame(unit, other)));
  appendTo(world.letGo, fresh);
  for (const unit of world.letGo) {
    const list = bandNamed(world, unit.band).role === "state" ? "slots" : "virtual";
    if (!isBound(world, unit)) append(freed, list, unit.id);
    else if (fresh.includes(unit)) append(deferred, list, unit.id);
  }
  for (const { band, id } of world.letGo.filter((unit) => !isBound(world, unit)))
    bandNamed(world, band).freeIds.push(id);
  world.letGo = world.letGo.filter((unit) => isBound(world, unit));
}

function isSame(left: FreedUnit, right: FreedUnit): boolean {
  return left.band === right.band && left.id === right.id;
}

// Whether anything is bound to an id: a virtual one in any token band, a slot in its own.
function isBound(world: World, { band: name, id }: FreedUnit): boolean {
  const { role } = bandNamed(world, name);
  const bands = role === "state" ? [bandNamed(world, name)] : tokenBandsOf(world);
  return bands.some((band) => band.bindings.has(id));
}

/** Frees what waited for transfers that are over; a group that is open meanwhile is none of its business. @internal */
export function releaseDeferred(world: World): Lists {
  const isBlocked = ({ transfers }: DeferredUnit): boolean =>
    world.transfers.some(({ name }) => transfers.includes(name));
  const units = world.deferred.filter((unit) => !isBlocked(unit));
  world.deferred = world.deferred.filter(isBlocked);
  return release(world, units).freed;
}

/** @internal */
export function freedOk(world: World, { freed, deferred }: Freed): FreedOk {
  const isEmpty = Object.keys(deferred).length === 0;
  return {
    freed: pageLists(world, freed),
    ...(isEmpty ? {} : { deferred: pageLists(world, deferred) }),
  };
}

/** What the transfers that an operation ended by itself gave back; nothing where it ended none. @internal */
export function endedPart(world: World): { ended?: EndedTransfers } {
  const transfers = world.ended;
  if (transfers.length === 0) return {};
  world.ended = [];
  return { ended: { transfers, freed: pageLists(world, releaseDeferred(world)) } };
}

/** @internal */
export function groupBegin(world: World): Record<string, never> {
  if (world.group !== null) invalid("group_state");
  world.group = [];
  return {};
}

/** @internal */
export function groupEnd(world: World): FreedOk {
  checkNow(world);
  if (world.group === null) invalid("group_state");
  const units = world.group;
  world.group = null;
  return freedOk(world, freeUnits(world, units));
}
