// Sizing worked out by hand.
import { describe, expect, test } from "vitest";
import type { KVStoragePlan } from "../../../src/kv/plan/plan.js";
import type { SizingOptions } from "../../../src/kv/sizing/size.js";
import { sizePlan } from "../../../src/kv/sizing/size.js";
import { END_PAIR, FULL_WINDOW, planOf } from "../layers.js";

const base: SizingOptions = {
  budgetBytes: 10_000,
  contextTokens: 32,
  rowTokens: 32,
  rowStateBytes: 0,
  scratchBytes: 0,
  maxRunningRequests: 2,
  windowRatio: 0.5,
  stateShare: 0,
  slotsPerRequest: 1,
};
const pair = (): KVStoragePlan => planOf(END_PAIR, { pageTokens: 4 });
// full 32 bytes a token, window_8 96 bytes a token, pages of 4
const window = (): KVStoragePlan => planOf(FULL_WINDOW, { pageTokens: 4 });
const solve = (plan: KVStoragePlan, options: Partial<SizingOptions>): unknown => {
  const sized = sizePlan(plan, { ...base, ...options });
  return "refusal" in sized ? sized.refusal.terms : sized.sizing;
};

describe("full and a window", () => {
  test("the most pages whose window target fits too", () => {
    // rows 3*8*32 = 768; sink 4*96; 27 pages of 128 and ceil_page(54) = 56 window tokens of 96 are 8832 of 8848
    expect(solve(window(), {})).toMatchObject({
      fixedBytes: 768,
      arenaBytes: 9232,
      sinkBytes: 384,
      tokens: 108,
      windowTokens: { window_8: 56 },
      stateSlots: 0,
      concurrency: 2,
    });
  });

  test("a small ratio still leaves one request's window and a page", () => {
    // min(32, 8 + 4) = 12 rows; (8848 - 1152) / 128 = 60.1 pages
    expect(solve(window(), { windowRatio: 0 })).toMatchObject({
      tokens: 240,
      windowTokens: { window_8: 12 },
    });
    expect(solve(window(), { windowRatio: 0, contextTokens: 10 })).toMatchObject({
      windowTokens: { window_8: 10 },
    });
  });

  test("max_total_tokens shrinks the budget to the byte", () => {
    // 10 pages: 1280 + 20*96 = 3200, sink 384, rows 768
    expect(solve(window(), { maxTotalTokens: 40 })).toMatchObject({
      budgetBytes: 4352,
      arenaBytes: 3584,
      tokens: 40,
    });
    expect(solve(window(), { budgetBytes: 4351 })).toMatchObject({ tokens: 36 });
    expect(solve(window(), { maxTotalTokens: 37 })).toMatchObject({ budgetBytes: 4352 });
    expect(solve(window(), { maxTotalTokens: 4000 })).toMatchObject({ budgetBytes: 10_000 });
  });

  test("a memory fraction of the measured bytes is the budget", () => {
    expect(solve(window(), { budgetBytes: 12_500, memoryFraction: 0.8 })).toMatchObject({
      budgetBytes: 10_000,
      tokens: 108,
    });
  });

  test("the largest concurrency that its own tokens carry", () => {
    // C rows leave 9360 - 256*C: 22 of them leave 3728, 11 pages with 24 window tokens (3712), 44 tokens;
    // 23 leave 3472, 10 pages, 40 tokens, and would need 48.
    expect(solve(window(), { maxRunningRequests: 1000 })).toMatchObject({
      concurrency: 22,
      tokens: 44,
      fixedBytes: 23 * 256,
    });
    expect(solve(window(), { maxRunningRequests: 22 })).toMatchObject({ concurrency: 22 });
  });

  test("the floor names its terms", () => {
    expect(solve(window(), { budgetBytes: 0 })).toEqual({ window_8: 1152, sink: 384, fixed: 512 });
    expect(solve(window(), { budgetBytes: 0, contextTokens: 5 })).toMatchObject({ window_8: 480 });
    expect(solve(window(), { budgetBytes: 0, scratchBytes: 7, rowStateBytes: 3 })).toMatchObject({
      fixed: 7 + 2 * (256 + 3),
    });
    expect(solve(window(), { budgetBytes: 2048 })).toMatchObject({
      tokens: 0,
      windowTokens: { window_8: 12 },
      concurrency: 1,
    });
    // a context longer than everything is the whole context only where the window is unknown
    expect(solve(window(), { budgetBytes: 0, contextTokens: 1_000_000 })).toMatchObject({
      window_8: 1152,
    });
  });

  test("a window of unknown length is charged in full", () => {
    const unknown = planOf(
      {
        layers: [
          { attention: { heads: 1, head_dim: 4 } },
          { attention: { heads: 1, head_dim: 4, window: null } },
        ],
      },
      { pageTokens: 4 },
    );
    expect(solve(unknown, { budgetBytes: 0 })).toMatchObject({ window: 32 * 16 });
    // rows 768, sink 64: 9168 / 32 = 286.5 tokens of both
    expect(solve(unknown, {})).toMatchObject({ tokens: 284, windowTokens: { window: 284 } });
  });
});

describe("full and state", () => {
  const arena = { budgetBytes: 6656 + 768, rowTokens: 32 };
  test("an explicit count", () => {
    // 6656 - 256 - 2560 = 3840 bytes are 15 pages
    expect(solve(pair(), { ...arena, stateSlots: 16 })).toMatchObject({
      arenaBytes: 6656,
      sinkBytes: 256,
      stateSlots: 16,
      tokens: 60,
    });
  });

  test("a share of the arena, what is left of it after whole slots stays free", () => {
    // 0.25 * 6656 = 1664 bytes: 10 slots; 6656 - 256 - 1664 = 4736 are 18 pages
    expect(solve(pair(), { ...arena, stateShare: 0.25 })).toMatchObject({
      stateSlots: 10,
      tokens: 72,
    });
  });

  test("at least the slots of one request, at most what the floor leaves", () => {
    expect(solve(pair(), { ...arena, stateShare: 0, slotsPerRequest: 3 })).toMatchObject({
      stateSlots: 3,
    });
    // nothing is left for tokens, so one row: 6656 + 256 bytes of arena, less the sink, are 41 slots and a rest
    expect(solve(pair(), { ...arena, stateSlots: 1000 })).toMatchObject({
      stateSlots: 41,
      tokens: 0,
      concurrency: 1,
    });
  });

  test("the floor holds three slots", () => {
    expect(solve(pair(), { budgetBytes: 0 })).toEqual({ mamba: 480, sink: 256, fixed: 512 });
  });
});
