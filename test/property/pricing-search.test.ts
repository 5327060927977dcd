// Pricing against exhaustive search: on small random chains every placement is tried, and feasibility and the least
// step must be what pricing answers.
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import {
  type BandSnapshot,
  firstPlan,
  planFlushEnds,
  planNoMove,
  planRelayout,
} from "../../src/kv/alloc/pricing.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const CHAINS = 50_000;
const CHAINS_A_SEED = 500;
const PAGE_BYTES = [3, 4, 5, 7, 8, 11];

interface Chain {
  readonly bands: BandSnapshot[];
  readonly demand: number[];
}

/** A chain that stands: spans in order on their grids, counts that add up. */
function randomChain(prng: Prng): Chain {
  const arena = prng.between(60, 220);
  const floats = prng.below(3);
  const sizes = Array.from({ length: floats + 2 }, () => prng.pick(PAGE_BYTES));
  const sink = Math.max(...sizes);
  const grow = (index: number): BandSnapshot["grow"] =>
    index === 0 ? "up" : index === floats + 1 ? "down" : "float";
  let cursor = 0;
  const bands = sizes.map((pageBytes, index): BandSnapshot => {
    const pages = Math.floor(arena / pageBytes);
    const firstPage = Math.ceil(sink / pageBytes);
    let first = firstPage;
    let count = 0;
    if (index === 0) count = prng.below(Math.max(1, Math.floor((pages - firstPage) / 2)));
    else if (grow(index) === "float" && prng.chance(1, 2)) first = pages;
    else {
      const low = Math.max(Math.ceil(cursor / pageBytes), firstPage);
      const room = Math.max(0, pages - low);
      if (grow(index) === "down") {
        count = prng.below(room + 1);
        first = pages - count;
      } else if (room > 1) {
        first = low + prng.below(Math.ceil(room / 2));
        count = 1 + prng.below(Math.ceil((pages - first) / 2));
      } else first = pages;
    }
    if (count > 0 || grow(index) !== "float")
      cursor = Math.max(cursor, (first + count) * pageBytes);
    const live =
      count === 0 ? 0 : grow(index) === "float" ? 1 + prng.below(count) : prng.below(count + 1);
    const free = grow(index) === "float" ? count - live : prng.below(count - live + 1);
    const vacated = count - live - free;
    return {
      grow: grow(index),
      pageBytes,
      pages,
      firstPage,
      live,
      free,
      vacated,
      spanFirst: first,
      spanCount: count,
      pinned: 0,
      kept: 0,
    };
  });
  const demand = bands.map(() => (prng.chance(1, 4) ? 0 : prng.below(prng.pick([3, 6, 12, 24]))));
  return { bands, demand };
}

type Place = readonly [first: number, count: number];

/** Every span that a step could give one band; null: any place on the grid. */
function choices(
  band: BandSnapshot,
  wanted: number,
  step: "no_move" | "flush_ends" | "relayout",
): Place[] {
  const anywhere = (count: number): Place[] => {
    const places: Place[] = [];
    for (let first = band.firstPage; first + count <= band.pages; first++)
      places.push([first, count]);
    return places;
  };
  if (band.grow === "float") {
    if (step === "relayout") return anywhere(band.live + wanted);
    if (band.spanCount === 0) return anywhere(wanted);
    const fresh = Math.max(0, wanted - band.free);
    const count = band.spanCount + fresh;
    const sides: Place[] = [
      [band.spanFirst, count],
      [band.spanFirst - fresh, count],
    ];
    return sides.filter(([first]) => first >= band.firstPage && first + count <= band.pages);
  }
  const count =
    step === "no_move" ? band.spanCount + Math.max(0, wanted - band.free) : band.live + wanted;
  return [band.grow === "up" ? [band.firstPage, count] : [band.pages - count, count]];
}

function isTransparent(band: BandSnapshot, wanted: number, step: string): boolean {
  if (band.grow !== "float" || wanted > 0) return false;
  return step === "relayout" ? band.live === 0 : band.spanCount === 0;
}

/** Tries every combination of places, low to high. */
function exists(
  chain: Chain,
  step: "no_move" | "flush_ends" | "relayout",
  index = 0,
  cursor = 0,
): boolean {
  const band = chain.bands[index];
  if (band === undefined) return true;
  const wanted = chain.demand[index]!;
  if (isTransparent(band, wanted, step)) return exists(chain, step, index + 1, cursor);
  return choices(band, wanted, step).some(
    ([first, count]) =>
      first * band.pageBytes >= cursor &&
      exists(chain, step, index + 1, (first + count) * band.pageBytes),
  );
}

function hasIndexRoom(chain: Chain): boolean {
  return chain.bands.every(
    (band, index) =>
      chain.demand[index] === 0 ||
      band.live + band.vacated + chain.demand[index]! <= band.pages - band.firstPage,
  );
}

test("pricing answers what exhaustive search finds", () => {
  const total: Counts = {};
  for (const seed of seedsOf(CHAINS / CHAINS_A_SEED)) {
    const counts = sweepPart(`pricing-search seed ${String(seed)}`, () => {
      const found: Counts = { chains: 0, no_move: 0, flush_ends: 0, relayout: 0, none: 0 };
      const prng = new Prng(seed, 11);
      for (let i = 0; i < CHAINS_A_SEED; i++) {
        const chain = randomChain(prng);
        const text = JSON.stringify(chain);
        const steps = ["no_move", "flush_ends", "relayout"] as const;
        const plans = [planNoMove, planFlushEnds, planRelayout].map(
          (plan) => plan(chain.bands, chain.demand) !== null,
        );
        expect(plans, text).toEqual(steps.map((step) => exists(chain, step)));
        // Law 3: each step reaches what the one before it does.
        expect(!plans[0] || plans[1], text).toBe(true);
        expect(!plans[1] || plans[2], text).toBe(true);
        const least = hasIndexRoom(chain)
          ? (steps.find((_, rank) => plans[rank]) ?? "none")
          : "none";
        expect(firstPlan(chain.bands, chain.demand)?.step ?? "none", text).toBe(least);
        found["chains"]! += 1;
        found[least]! += 1;
      }
      return found;
    });
    for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
  }
  sweepTotal(`pricing-search: ${JSON.stringify(total)}`);
  for (const answer of ["no_move", "flush_ends", "relayout", "none"]) {
    expect(total[answer]! / total["chains"]!, answer).toBeGreaterThanOrEqual(0.02);
  }
});
