// The layout search: where every band would lie once it also held a demand, under one step of rearrangement.
//
// Proof that the greedy pack decides. Floats between two fixed neighbours keep their order, and each needs a block of a
// known length on its own grid. Packed from the low side each takes the lowest start its predecessors leave; by
// induction no placement starts any of them lower. So if the pack passes the upper neighbour, every placement does.
// Sides of floats that stay are tried exhaustively.
import type { Demand, Step } from "../base/operations.js";
import { occupiedWhenPacked } from "./packing.js";
import { isTransparent } from "./pages.js";
import { fencesOver } from "./signals.js";
import { type Band, liveCount, pendingCount, type World } from "./world.js";

/** Where a band would lie, `[low, high)` in pages; `side` where it grows. @internal */
export interface Place {
  readonly band: Band;
  readonly low: number;
  readonly high: number;
  readonly side: "low" | "high" | null;
  readonly isPlacedAnew: boolean; // a float that moves or is empty
}

/** @internal */
export interface Plan {
  readonly step: Step;
  readonly places: readonly Place[]; // every band, chain order
}

const STEPS: readonly Step[] = ["no_move", "flush_ends", "relayout"];

/** What a plan must respect: pages that stay, and whether it keeps out of bytes that a send still reads. @internal */
export interface Limits {
  readonly fixed: (band: Band) => readonly number[];
  readonly avoidsSends: boolean;
}

/** The least of the steps that serves the demand, or null. @internal */
export function leastPlan(
  world: World,
  demand: Demand,
  limits: Limits,
  steps: readonly Step[] = STEPS,
): Plan | null {
  for (const step of steps) {
    const plan = planStep(world, demand, step, limits);
    if (plan !== null) return plan;
  }
  return null;
}

function planStep(world: World, demand: Demand, step: Step, limits: Limits): Plan | null {
  const choices = world.bands.map((band) =>
    choicesOf(world, band, demand[band.name] ?? 0, step, limits.fixed(band)),
  );
  const isAtRest = choices.every((list) => list.every((choice) => choice.fresh === 0));
  for (const combination of combinations(choices)) {
    const places = step === "no_move" && isAtRest ? combination.map(atRest) : fit(combination);
    if (places === null) continue;
    if (!limits.avoidsSends || !places.some((place) => coversSend(world, place)))
      return { step, places };
  }
  return null;
}

function coversSend(world: World, { band, low, high }: Place): boolean {
  const readers = fencesOver(world, low * band.pageBytes, high * band.pageBytes);
  return world.transfers.some(({ name }) => readers.includes(name));
}

// One way to serve a band's part. `need` pages are to be placed anywhere; otherwise the span is given.
interface Choice {
  readonly band: Band;
  readonly low: number;
  readonly high: number;
  readonly side: "low" | "high" | null;
  readonly need: number | null; // length of a block that is placed anew; 0: the float stays empty
  readonly fresh: number; // pages beyond the present span
}

// The choices of a band, the preferred one first.
function choicesOf(
  world: World,
  band: Band,
  demand: number,
  step: Step,
  fixed: readonly number[],
): Choice[] {
  const { low, high } = band;
  const staying = { band, low, high, side: null, need: null, fresh: 0 };
  const missing = Math.max(0, demand - band.holes.length - pendingCount(band));
  if (band.grow !== "float") {
    const isPacked = step !== "no_move";
    const fresh = isPacked ? demand : missing;
    const length = (isPacked ? occupiedWhenPacked(band, fixed) : high - low) + fresh;
    return band.grow === "up"
      ? [{ ...staying, high: low + length, side: "high", fresh }]
      : [{ ...staying, low: high - length, side: "low", fresh }];
  }
  if (isTransparent(band)) return [{ ...staying, need: demand, fresh: demand }];
  if (step === "relayout" && fixed.length === 0) {
    return [{ ...staying, need: liveCount(band) + demand, fresh: demand }];
  }
  if (missing === 0) return [staying];
  const below: Choice = { ...staying, low: low - missing, side: "low", fresh: missing };
  const above: Choice = { ...staying, high: high + missing, side: "high", fresh: missing };
  return prefersHigh(world, band) ? [above, below] : [below, above];
}

// The larger gap in pages as the bands stand now; on a tie the high one.
function prefersHigh(world: World, band: Band): boolean {
  const at = world.bands.indexOf(band);
  const isOpaque = (other: Band): boolean => !isTransparent(other);
  const under = world.bands.slice(0, at).findLast(isOpaque);
  const over = world.bands.slice(at + 1).find(isOpaque);
  const from = under === undefined ? 0 : under.high * under.pageBytes;
  const to = over === undefined ? world.arenaBytes : over.low * over.pageBytes;
  const lowGap = band.low - Math.max(Math.ceil(from / band.pageBytes), band.firstPage);
  const highGap = Math.min(Math.floor(to / band.pageBytes), band.pages) - band.high;
  return highGap >= lowGap;
}

// All ways to choose one of each list; the first list's preference weighs most.
function combinations(choices: readonly (readonly Choice[])[]): Choice[][] {
  const [first, ...rest] = choices;
  if (first === undefined) return [[]];
  return first.flatMap((choice) => combinations(rest).map((tail) => [choice, ...tail]));
}

function atRest(choice: Choice): Place {
  const { band, low, high, side } = choice;
  return { band, low, high, side, isPlacedAnew: false };
}

// Checks that what stays lies in order and on its grid, and places the other floats between it. Null: no layout.
function fit(chosen: readonly Choice[]): Place[] | null {
  const places: Place[] = [];
  let waiting: Choice[] = []; // floats to place below the next band that stays
  let cursor = 0; // high byte of the last band that stays
  for (const choice of chosen) {
    const { band, low, high, need } = choice;
    if (need !== null) {
      waiting.push(choice);
      continue;
    }
    if (low < band.firstPage && high > low) return null;
    if (high > band.pages && high > low) return null;
    const placed = placeFloats(waiting, cursor, low * band.pageBytes);
    if (placed === null) return null;
    places.push(...placed, atRest(choice));
    waiting = [];
    cursor = high * band.pageBytes;
  }
  return places; // the last band is an end, so nothing waits
}

// Low to high; each float leaves an equal share of the slack below it. Null: the greedy pack does not fit.
function placeFloats(floats: readonly Choice[], from: number, to: number): Place[] | null {
  let cursor = from;
  for (const { band, need } of floats) {
    if (need === null || need === 0) continue;
    const start = Math.max(Math.ceil(cursor / band.pageBytes), band.firstPage);
    if (start + need > band.pages) return null;
    cursor = (start + need) * band.pageBytes;
  }
  if (cursor > to) return null;
  const places: Place[] = [];
  cursor = from;
  floats.forEach(({ band, need }, index) => {
    if (need === null || need === 0) {
      places.push({ band, low: band.pages, high: band.pages, side: null, isPlacedAnew: false });
      return;
    }
    const later = floats.slice(index + 1).filter((float) => (float.need ?? 0) > 0);
    const limit = packedHigh(later, to);
    const low = Math.max(Math.ceil(cursor / band.pageBytes), band.firstPage);
    const high = Math.min(Math.floor(limit / band.pageBytes), band.pages);
    const start = low + Math.floor((high - low - need) / (later.length + 2));
    places.push({ band, low: start, high: start + need, side: "high", isPlacedAnew: true });
    cursor = (start + need) * band.pageBytes;
  });
  return places;
}

// The low byte of these floats when they are packed against `to`.
function packedHigh(floats: readonly Choice[], to: number): number {
  let limit = to;
  for (const { band, need } of [...floats].reverse()) {
    const end = Math.min(Math.floor(limit / band.pageBytes), band.pages);
    limit = (end - (need ?? 0)) * band.pageBytes;
  }
  return limit;
}
