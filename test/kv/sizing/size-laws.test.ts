// Laws of sizing over random models and budgets: monotone, exact at the floor, ends, realisable, least budget.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import type { KVStoragePlan } from "../../../src/kv/plan/plan.js";
import { fixedBytes, floorBytes, pageBytesOf } from "../../../src/kv/sizing/floor.js";
import { growAfterCapture, sizeStages } from "../../../src/kv/sizing/growth.js";
import { floorOf, pagesUpOf, ratioOf } from "../../../src/kv/sizing/ratio.js";
import type { Sizing, SizingOptions } from "../../../src/kv/sizing/size.js";
import { sizePlan } from "../../../src/kv/sizing/size.js";
import { planOf, randomLayers } from "../layers.js";

interface Case {
  readonly plan: KVStoragePlan;
  readonly options: SizingOptions;
  readonly least: number; // bytes of the floor
}
function randomCase(seed: number): Case {
  const prng = new Prng(seed, 3);
  const plan = planOf(randomLayers(prng), { pageTokens: prng.pick([1, 2, 3, 16, 64]) });
  const rowTokens = prng.between(1, 200);
  const options: SizingOptions = {
    budgetBytes: 0,
    contextTokens: prng.between(1, rowTokens),
    rowTokens,
    rowStateBytes: prng.below(50),
    scratchBytes: prng.below(1000),
    maxRunningRequests: prng.between(1, 40),
    windowRatio: prng.between(0, 10) / 10,
    stateShare: prng.between(0, 10) / 10,
    slotsPerRequest: prng.between(1, 3),
    ...(prng.chance(1, 3) ? { stateSlots: prng.below(12) } : {}),
  };
  const refused = sizePlan(plan, options);
  if (!("refusal" in refused)) throw new Error("a budget of 0 must be refused");
  return { plan, options, least: floorBytes(refused.refusal.terms) };
}
function sized({ plan, options }: Case, budgetBytes: number): Sizing {
  const result = sizePlan(plan, { ...options, budgetBytes });
  if ("refusal" in result) throw new Error(result.refusal.message);
  return result.sizing;
}
const windowSum = (sizing: Sizing): number =>
  Object.values(sizing.windowTokens).reduce((sum, tokens) => sum + tokens, 0);
const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);

describe("laws", () => {
  test("the floor: its sum boots, a byte less does not", () => {
    for (const seed of SEEDS) {
      const drawn = randomCase(seed);
      const { plan, options, least } = drawn;
      expect(sized(drawn, least).arenaBytes, `seed ${seed}`).toBe(least - fixedBytes(options, 1));
      expect(sizePlan(plan, { ...options, budgetBytes: least - 1 }), `seed ${seed}`).toMatchObject({
        refusal: { code: "refused_floor" },
      });
    }
  });

  test("tokens, windows and concurrency never shrink when the budget grows", () => {
    for (const seed of SEEDS) {
      const drawn = randomCase(seed);
      const prng = new Prng(seed, 4);
      let before = sized(drawn, drawn.least);
      let budget = drawn.least;
      for (let step = 0; step < 30; step++) {
        budget += prng.chance(1, 2) ? 1 : prng.between(1, 3000);
        const after = sized(drawn, budget);
        const where = `seed ${seed}, budget ${budget}`;
        expect(after.tokens, where).toBeGreaterThanOrEqual(before.tokens);
        expect(windowSum(after), where).toBeGreaterThanOrEqual(windowSum(before));
        expect(after.concurrency, where).toBeGreaterThanOrEqual(before.concurrency);
        // with the rows paid for, every byte goes to the arena, and the state share grows with it
        if (after.concurrency === before.concurrency)
          expect(after.stateSlots, where).toBeGreaterThanOrEqual(before.stateSlots);
        before = after;
      }
    }
  });

  test("the budget is spent to the byte, the targets fit, half the tokens carry the concurrency", () => {
    let limited = 0;
    for (const seed of SEEDS) {
      const drawn = randomCase(seed);
      const { plan, options } = drawn;
      const sizing = sized(drawn, drawn.least + new Prng(seed, 5).below(40_000));
      expect(sizing.fixedBytes + sizing.arenaBytes).toBe(sizing.budgetBytes);
      let spent = sizing.sinkBytes;
      for (const pool of plan.subPools) {
        const units =
          pool.kind === "state"
            ? sizing.stateSlots
            : pool.lifetime.kind === "full"
              ? sizing.tokens
              : (sizing.windowTokens[pool.name] ?? 0);
        spent += units * pool.rankUnitBytes;
      }
      expect(spent, `seed ${seed}`).toBeLessThanOrEqual(sizing.arenaBytes);
      expect(sizing.tokens % plan.pageTokens).toBe(0);
      const carried = Math.max(1, Math.floor(sizing.tokens / 2));
      expect(sizing.concurrency).toBeLessThanOrEqual(Math.min(options.maxRunningRequests, carried));
      if (sizing.concurrency < options.maxRunningRequests) limited += 1;
    }
    expect(limited).toBeGreaterThan(10); // the concurrency's own limit was met often
  });

  test("one request more would not be carried", () => {
    for (const seed of SEEDS) {
      const drawn = randomCase(seed);
      const budget = drawn.least + new Prng(seed, 6).below(40_000);
      const { concurrency } = sized(drawn, budget);
      const { options, plan } = drawn;
      if (concurrency === options.maxRunningRequests) continue;
      const more = sizePlan(plan, {
        ...options,
        budgetBytes: budget,
        maxRunningRequests: concurrency + 1,
      });
      // asked for exactly one more, sizing still answers no more
      if ("refusal" in more) throw new Error(more.refusal.message);
      expect(more.sizing.concurrency, `seed ${seed}`).toBe(concurrency);
    }
  });

  test("max_total_tokens takes the smallest budget that gives them, and never more than there is", () => {
    for (const seed of SEEDS) {
      const drawn = randomCase(seed);
      const { plan, options, least } = drawn;
      const budgetBytes = least + 20_000;
      const all = sized(drawn, budgetBytes);
      const wanted = new Prng(seed, 7).between(0, all.tokens + plan.pageTokens);
      const result = sizePlan(plan, { ...options, budgetBytes, maxTotalTokens: wanted });
      if ("refusal" in result) throw new Error(result.refusal.message);
      const { sizing } = result;
      if (wanted > all.tokens) {
        expect(sizing).toEqual(all);
        continue;
      }
      expect(sizing.tokens).toBeGreaterThanOrEqual(wanted);
      if (sizing.budgetBytes > least)
        expect(sized(drawn, sizing.budgetBytes - 1).tokens, `seed ${seed}`).toBeLessThan(wanted);
    }
  });

  test("stages take the least concurrency and then give no fewer tokens than alone", () => {
    for (let seed = 0; seed < 60; seed++) {
      const drawn = randomCase(seed);
      const { plan, options, least } = drawn;
      const budgets = [least, least + 5_000, least + 30_000];
      const stages = budgets.map((budgetBytes) => ({ plan, options: { ...options, budgetBytes } }));
      const result = sizeStages(stages);
      if ("refusal" in result) throw new Error(result.refusal.message);
      const alone = budgets.map((budget) => sized(drawn, budget));
      const agreed = Math.min(...alone.map((sizing) => sizing.concurrency));
      result.sizings.forEach((sizing, index) => {
        expect(sizing.concurrency).toBe(agreed);
        expect(sizing.tokens).toBeGreaterThanOrEqual(alone[index]!.tokens);
      });
    }
  });

  test("growth after capture keeps the rows and never shrinks the arena", () => {
    for (let seed = 0; seed < 60; seed++) {
      const drawn = randomCase(seed);
      const { plan, options, least } = drawn;
      const before = sized(drawn, least + 3_000);
      const more = new Prng(seed, 8).below(9_000);
      const grown = growAfterCapture(plan, options, before, before.budgetBytes + more, 1000);
      if (more === 0) {
        expect(grown).toBeNull();
        continue;
      }
      expect(grown?.sizing.concurrency).toBe(before.concurrency);
      expect(grown?.arenaBytes).toBe(before.arenaBytes + more);
      expect(grown?.chunks).toBe(Math.ceil(more / 1000));
      expect(grown?.sizing.tokens).toBeGreaterThanOrEqual(before.tokens);
      expect(growAfterCapture(plan, options, before, least - 1, 1000)).toBeNull();
    }
  });
});

test("a sink charges the state unit once, whatever the page size", () => {
  for (const pageTokens of [1, 4, 256]) {
    const plan = planOf(
      {
        layers: [
          { attention: { heads: 1, head_dim: 1, dtype: "int8" } },
          { state: { conv: [[5000]], conv_dtype: "int8", temporal: [0] } },
        ],
      },
      { pageTokens },
    );
    const drawn = { plan, options: { ...randomCase(1).options, stateSlots: 3 }, least: 0 };
    expect(sized(drawn, 200_000).sinkBytes).toBe(5000);
    expect(pageBytesOf(plan, plan.subPools[0]!)).toBe(5000);
  }
});

describe("ratios are the decimal numbers that were written", () => {
  test.each([
    [100, 0.29, 29], // 100 * 0.29 is 28.999999999999996
    [1000, 0.001, 1],
    [7, 1, 7],
    [7, 0, 0],
    [1_000_000_000_000, 0.8, 800_000_000_000],
    [10_000_000, 1e-7, 1],
    [2_000_000, 1.5e-6, 3],
  ])("floor of %i times %f is %i", (value, ratio, expected) => {
    expect(floorOf(value, ratioOf(ratio, "ratio"))).toBe(expected);
  });

  test("whole pages are rounded up, and only when there is a remainder", () => {
    expect(pagesUpOf(100, ratioOf(0.8, "ratio"), 16)).toBe(80);
    expect(pagesUpOf(100, ratioOf(0.29, "ratio"), 1)).toBe(29);
    expect(pagesUpOf(101, ratioOf(0.8, "ratio"), 16)).toBe(96);
    expect(pagesUpOf(0, ratioOf(0.8, "ratio"), 16)).toBe(0);
  });

  test.each([-0.1, 1.1, Number.NaN])("%f is no share", (value) => {
    expect(() => ratioOf(value, "share")).toThrow(/from 0 to 1/);
  });
});
