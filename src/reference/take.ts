// The one path of every take: checks, the least plan, relief where the plan rearranges, then the hand-out.
import type { Demand, Step } from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { fixedByLoads, fixedByTransfers } from "./fixed.js";
import { leastPlan, type Limits, type Place, type Plan } from "./layout.js";
import { absorbEdges, parkIfEmpty, settlePending } from "./pages.js";
import { flushUrgent, relocate } from "./rearrange.js";
import { invalid, Refusal } from "./refusal.js";
import { copiesOn, fencesOfPage, waitFor } from "./signals.js";
import { freeIdCount, stageIsShort, stagePacks } from "./stages.js";
import { bandNamed, liveCount, type Load, ownerOf, stateBandOf, type World } from "./world.js";
import { askedTo } from "./asked.js";
import { deepCopy } from "./copy.js";

/** Pages a band in the order in which they are handed out. @internal */
export interface Taken {
  readonly step: Step;
  readonly pages: Readonly<Record<string, readonly number[]>>;
}

/** Who writes first: a load is not zeroed, and its copy stream waits the forwards by itself. @internal */
export type FirstWriter = "zeroing" | "host_load";

/** Takes the demand's pages, without ids. @internal */
export function take(world: World, demand: Demand, writer: FirstWriter = "zeroing"): Taken {
  checkStageLoads(world);
  return askedTo(world, "take", demand, () => {
    const plan = layOut(world, demand);
    return { step: plan.step, pages: handOut(world, demand, plan, writer) };
  });
}

/**
 * With stages nothing is laid out while a load has window pages that it did not bind: they are fixed in this stage, of
 * which the others know nothing. Refuses with `name_state`. @internal
 */
export function checkStageLoads(world: World): void {
  const isUnbound = ({ reservedBands }: Load): boolean =>
    reservedBands.some((name) => bandNamed(world, name).role === "window");
  if (world.stages !== null && world.loads.some(isUnbound)) invalid("name_state");
}

/** Everything a take does before it hands out. The plan that it answers. @internal */
export function layOut(world: World, demand: Demand): Plan {
  checkIds(world, demand);
  checkIndexRoom(world, demand);
  if (world.stages?.every((stage) => stagePacks(world, stage, demand)) === false)
    refuseCapacity(world, demand, "bytes");
  const atFirst = firstAttempt(world);
  const inPlace = leastPlan(world, demand, atFirst, ["no_move"]);
  if (inPlace !== null) return inPlace;
  return relieve(world, demand);
}

/** Whether a layout exists for a demand, on a copy that may be spoilt. @internal */
export function fitsCounted(world: World, demand: Demand): boolean {
  checkIds(world, demand);
  checkIndexRoom(world, demand);
  if (world.stages !== null) return world.stages.every((stage) => stagePacks(world, stage, demand));
  if (leastPlan(world, demand, firstAttempt(world), ["no_move"]) !== null) return true;
  settleAll(world);
  return [firstAttempt(world), secondAttempt(world)].some(
    (limits) => leastPlan(world, demand, limits) !== null,
  );
}

// Pages of transfers stay where they are.
function firstAttempt(world: World): Limits {
  return {
    fixed: (band) => [...fixedByLoads(world, band), ...fixedByTransfers(world, band)],
    avoidsSends: true,
  };
}

// Transfers are waited on the host instead.
function secondAttempt(world: World): Limits {
  return { fixed: (band) => fixedByLoads(world, band), avoidsSends: false };
}

function checkIds(world: World, demand: Demand): void {
  const owner = ownerOf(world);
  const need = demand[owner.name] ?? 0;
  const ids = freeIdCount(world, owner);
  if (need > ids) throw new Refusal({ code: "refused_ids", need, free: ids });
  const state = stateBandOf(world);
  const slots = state === null ? 0 : (demand[state.name] ?? 0);
  const free = state === null ? 0 : freeIdCount(world, state);
  if (slots > free) throw new Refusal({ code: "refused_state", need: slots, free });
}

function checkIndexRoom(world: World, demand: Demand): void {
  const limit = shortBand(world, demand);
  if (limit !== null) refuseCapacity(world, demand, limit);
}

/** The first band in chain order whose index room is short; null: none. @internal */
export function shortBand(world: World, demand: Demand): string | null {
  return world.bands.find(({ name }) => isShort(world, demand, name))?.name ?? null;
}

/** Whether a band has too few page numbers for its part of a demand. @internal */
export function isShort(world: World, demand: Demand, name: string): boolean {
  const band = bandNamed(world, name);
  if (world.stages !== null) {
    const place = world.bands.indexOf(band);
    return world.stages.some((stage) => stageIsShort(world, stage, demand, place));
  }
  const need = liveCount(band) + band.vacated.length + (demand[name] ?? 0);
  return need > Math.max(0, band.pages - band.firstPage);
}

function refuseCapacity(world: World, demand: Demand, limit: string): never {
  throw new Refusal({ code: "refused_capacity", demand: inChainOrder(world, demand), limit });
}

/** The demand without zeros, bands in chain order. @internal */
export function inChainOrder(world: World, demand: Demand): Demand {
  const entries = world.bands.map((band): [string, number] => [band.name, demand[band.name] ?? 0]);
  return Object.fromEntries(entries.filter(([, count]) => count > 0));
}

// Everything pending settles with one wait, empty floats are parked, boundary holes absorbed; the plan is made on what that
// leaves. All host reads come before the first wait. A plan that meets transfers is tried on a copy first, which tells
// whom to wait for.
function relieve(world: World, demand: Demand): Plan {
  world.fx.push(["hostread", "recovery"]);
  settleAll(world);
  const first = leastPlan(world, demand, firstAttempt(world));
  if (first !== null) {
    realise(world, first, firstAttempt(world));
    return first;
  }
  const second = leastPlan(world, demand, secondAttempt(world));
  if (second === null) refuseCapacity(world, demand, "bytes");
  const trial = deepCopy(world);
  trial.hostNeeds = [];
  const plan = leastPlan(trial, demand, secondAttempt(trial))!; // as on the original
  realise(trial, plan, secondAttempt(trial));
  handOut(trial, demand, plan, "zeroing");
  hostWait(world, trial.hostNeeds);
  realise(world, second, secondAttempt(world));
  return second;
}

function settleAll(world: World): void {
  waitFor(
    world,
    world.bands.flatMap((band) => settlePending(band, Infinity)),
  );
  for (const band of world.bands) {
    parkIfEmpty(world, band);
    if (band.grow === "float") absorbEdges(world, band);
  }
}

/** Waits these transfers on the host, oldest first; each is over thereby. @internal */
export function hostWait(world: World, names: readonly string[]): void {
  const waited = world.transfers.filter(({ name }) => names.includes(name));
  const stalled = waited.filter((transfer) => transfer.isStalled);
  if (stalled.length > 0)
    throw new Refusal({ code: "deadline", transfers: stalled.map(({ name }) => name) });
  for (const { name } of waited) {
    world.fx.push(["hostwait", name]);
    world.ended.push(name);
  }
  world.transfers = world.transfers.filter((transfer) => !waited.includes(transfer));
  world.closedTransfers.push(...waited.map(({ name }) => name));
}

function realise(world: World, plan: Plan, limits: Limits): void {
  if (plan.step === "no_move") return;
  for (const band of world.bands) {
    if (band.grow !== "float" && band.holes.length + band.vacated.length > 0)
      flushUrgent(world, band, limits.fixed(band));
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
  writer: FirstWriter,
): Record<string, readonly number[]> {
  const pages: Record<string, readonly number[]> = {};
  for (const place of plan.places) {
    const count = demand[place.band.name] ?? 0;
    if (count > 0) pages[place.band.name] = takePages(world, place, count, writer);
  }
  for (const band of world.bands) {
    const taken = pages[band.name] ?? [];
    if (band.isZeroed && writer === "zeroing" && taken.length > 0)
      world.fx.push(["zero", band.name, toExtents(taken)]);
  }
  return pages;
}

// Holes in list order, then fresh pages on the planned side, ascending.
function takePages(world: World, place: Place, count: number, writer: FirstWriter): number[] {
  const { band } = place;
  const settled = settlePending(band, count - band.holes.length);
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
  const copies = reused.flatMap((page) => copiesOn(world, band, page));
  const fences = fresh.flatMap((page) => fencesOfPage(world, band, page));
  const isForward = (name: string): boolean =>
    world.forwards.some((forward) => forward.name === name);
  const readers = [...copies, ...fences];
  waitFor(world, [
    ...settled,
    ...readers.filter((name) => writer !== "host_load" || !isForward(name)),
  ]);
  return [...reused, ...fresh];
}
