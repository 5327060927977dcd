// The one path of every take: checks, the least plan, relief where the plan rearranges, then the hand-out.
import type { Demand, Step } from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { leastPlan, type Place, type Plan } from "./layout.js";
import { absorbEdges, parkIfEmpty, settlePending } from "./pages.js";
import { flushUrgent, relocate } from "./rearrange.js";
import { Refusal } from "./refusal.js";
import { fencesOfPage, waitFor } from "./signals.js";
import { type Band, liveCount, ownerOf, stateBandOf, type World } from "./world.js";

/** Pages a band in the order in which they are handed out. @internal */
export interface Taken {
  readonly step: Step;
  readonly pages: Readonly<Record<string, readonly number[]>>;
}

/** Takes the demand's pages, without ids; `isZeroing` false for what a copy will overwrite whole. @internal */
export function take(world: World, demand: Demand, isZeroing: boolean = true): Taken {
  const plan = layOut(world, demand);
  return { step: plan.step, pages: handOut(world, demand, plan, isZeroing) };
}

/** Everything a take does before it hands out. The plan that it answers. @internal */
export function layOut(world: World, demand: Demand): Plan {
  checkIds(world, demand);
  checkIndexRoom(world, demand);
  const inPlace = leastPlan(world, demand, fixedPages, ["no_move"]);
  if (inPlace !== null) return inPlace;
  if (leastPlan(world, demand, fixedPages) === null) refuseCapacity(world, demand, "bytes");
  return relieve(world, demand);
}

function fixedPages(band: Band): readonly number[] {
  return band.reserved;
}

function checkIds(world: World, demand: Demand): void {
  const owner = ownerOf(world);
  const need = demand[owner.name] ?? 0;
  if (need > owner.freeIds.length)
    throw new Refusal({ code: "refused_ids", need, free: owner.freeIds.length });
  const state = stateBandOf(world);
  const slots = state === null ? 0 : (demand[state.name] ?? 0);
  if (state !== null && slots > state.freeIds.length)
    throw new Refusal({ code: "refused_state", need: slots, free: state.freeIds.length });
}

function checkIndexRoom(world: World, demand: Demand): void {
  for (const band of world.bands) {
    const need = liveCount(band) + band.vacated.length + (demand[band.name] ?? 0);
    if (need > Math.max(0, band.pages - band.firstPage)) refuseCapacity(world, demand, band.name);
  }
}

function refuseCapacity(world: World, demand: Demand, limit: string): never {
  throw new Refusal({ code: "refused_capacity", demand: inChainOrder(world, demand), limit });
}

/** The demand without zeros, bands in chain order. @internal */
export function inChainOrder(world: World, demand: Demand): Demand {
  const entries = world.bands.map((band): [string, number] => [band.name, demand[band.name] ?? 0]);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}

// Known to succeed. All host reads come before the first wait; then everything pending settles, empty floats are
// parked and boundary holes absorbed, and the plan is made again on what that leaves.
function relieve(world: World, demand: Demand): Plan {
  world.fx.push(["hostread", "recovery"]);
  waitFor(
    world,
    world.bands.flatMap((band) => settlePending(band, Infinity)),
  );
  for (const band of world.bands) {
    parkIfEmpty(world, band);
    if (band.grow === "float") absorbEdges(world, band);
  }
  const plan = leastPlan(world, demand, fixedPages);
  if (plan === null) throw new Error("a relief that was feasible found no layout");
  if (plan.step !== "no_move") realise(world, plan);
  return plan;
}

function realise(world: World, plan: Plan): void {
  for (const band of world.bands) {
    if (band.grow !== "float" && band.holes.length + band.vacated.length > 0)
      flushUrgent(world, band, fixedPages(band));
  }
  for (const { band, low } of inMoveOrder(plan.places)) relocate(world, band, low);
}

// Up-movers from the highest, then down-movers from the lowest. Chain order is kept, so an up-mover can only meet
// blocks above it that also move up and have left already, a down-mover only blocks below it that have moved down.
function inMoveOrder(places: readonly Place[]): Place[] {
  const moved = places.filter(({ band, isPlacedAnew }) => isPlacedAnew && liveCount(band) > 0);
  const isUp = ({ band, low }: Place): boolean => low > band.low;
  return [...moved.filter(isUp).reverse(), ...moved.filter((place) => !isUp(place))];
}

function handOut(
  world: World,
  demand: Demand,
  plan: Plan,
  isZeroing: boolean,
): Record<string, readonly number[]> {
  for (const band of world.bands) {
    waitFor(world, settlePending(band, (demand[band.name] ?? 0) - band.holes.length));
  }
  const pages: Record<string, readonly number[]> = {};
  for (const place of plan.places) {
    const count = demand[place.band.name] ?? 0;
    if (count > 0) pages[place.band.name] = takePages(world, place, count);
  }
  for (const band of world.bands) {
    const taken = pages[band.name] ?? [];
    if (band.isZeroed && isZeroing && taken.length > 0)
      world.fx.push(["zero", band.name, toExtents(taken)]);
  }
  return pages;
}

// Holes in list order, then fresh pages on the planned side, ascending.
function takePages(world: World, place: Place, count: number): number[] {
  const { band } = place;
  const reused = band.holes.splice(0, count);
  const fresh: number[] = [];
  const missing = count - reused.length;
  if (place.isPlacedAnew && liveCount(band) === 0) {
    band.low = place.low;
    band.high = place.low;
  }
  if (place.side === "low") {
    band.low -= missing;
    for (let page = band.low; page < band.low + missing; page++) fresh.push(page);
  } else {
    for (let page = band.high; page < band.high + missing; page++) fresh.push(page);
    band.high += missing;
  }
  waitFor(
    world,
    fresh.flatMap((page) => fencesOfPage(world, band, page)),
  );
  return [...reused, ...fresh];
}
