// Frees: units leave their row or purpose at once; in an open group they stay bound until it ends.
import type { FreedOk } from "../base/operations.js";
import { append, type Lists, pageLists } from "./answers.js";
import { checkNow } from "./forwards.js";
import { giveBack } from "./pages.js";
import { invalid } from "./refusal.js";
import { type Band, bandNamed, type FreedUnit, type World } from "./world.js";

/** Frees units in this order, or lets them wait for the group's end. What the answer lists. @internal */
export function freeUnits(world: World, units: readonly FreedUnit[]): Lists {
  if (world.group !== null) {
    world.group.push(...units);
    return {};
  }
  const freed: Lists = {};
  for (const band of world.bands) {
    const pages: number[] = [];
    for (const { id } of units.filter((unit) => unit.band === band.name)) {
      pages.push(unbind(band, id));
      if (band.role !== "window") {
        append(freed, band.role === "owner" ? "virtual" : "slots", id);
        band.freeIds.push(id);
      }
    }
    append(freed, band.name, ...pages);
    giveBack(world, band, pages);
  }
  return freed;
}

/** @internal */
export function freedOk(world: World, freed: Lists): FreedOk {
  return { freed: pageLists(world, freed) };
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

/** The page that an id is bound to in a band; 0: none. @internal */
export function pageOf(world: World, band: string, id: number): number {
  return bandNamed(world, band).bindings.get(id) ?? 0;
}

function unbind(band: Band, id: number): number {
  const page = band.bindings.get(id);
  if (page === undefined) throw new Error(`${band.name} has nothing bound to ${id}`);
  band.bindings.delete(id);
  return page;
}
