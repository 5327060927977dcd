// From the model form to the direct form: keys that pass through, defaults, widths, and refusals of the grid.
import { describe, expect, test } from "vitest";
import type { BandGeometry, ModelConfig } from "../../../src/base/operations.js";
import { deriveConfig, directSubPools } from "../../../src/kv/build.js";
import type { Derived } from "../../../src/kv/build.js";
import { planReport } from "../../../src/kv/build-report.js";
import { KVStorage } from "../../../src/kv/storage.js";
import type { Json } from "../layers.js";
import { END_PAIR, FULL_WINDOW, LATENT_STATE, planOf } from "../layers.js";

const form = (model: Json, extra: Json = {}): ModelConfig => ({
  model,
  page_size: 4,
  budget_bytes: 100_000,
  row_tokens: 64,
  max_running_requests: 4,
  ...extra,
});
const derive = (model: Json, extra: Json = {}): Derived => {
  const derived = deriveConfig(form(model, extra));
  if ("refusal" in derived) throw new Error(derived.refusal.message);
  return derived;
};

test("the golden pair of ends: units 64 and 160, sink 256, 26 pages from 1 and 41 slots from 2", () => {
  // one row of 64 ids and its padding row: 2 * 8 * 64 bytes beside the arena
  const { derived, sizing } = derive(END_PAIR, {
    budget_bytes: 6656 + 1024,
    max_running_requests: 1,
    max_mamba_cache_size: 16,
  });
  expect(derived).toEqual({
    page_size: 4,
    arena_bytes: 64 * 64 + 16 * 160,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: 160 },
      { name: "full", kind: "mha", unit_bytes: 64 },
    ],
    rows: 1,
    row_tokens: 64,
    overlap: false,
    prefix_sharing: false,
  });
  expect(sizing.sinkBytes).toBe(256);
  // (6656 - 256 - 16 * 160) / 256 = 15 pages
  expect([sizing.tokens, sizing.stateSlots]).toEqual([60, 16]);
  const boot = new KVStorage(derived, { digestDepth: null }).apply({ op: "boot", args: {} });
  const bands = ("ok" in boot ? boot.ok : {}) as { bands?: Record<string, BandGeometry> };
  expect(bands.bands?.["full"]).toMatchObject({ page_bytes: 256, pages: 26, first_page: 1 });
  expect(bands.bands?.["mamba"]).toMatchObject({ page_bytes: 160, pages: 41, first_page: 2 });
});

describe("keys", () => {
  test("of the direct form pass through; the concurrency becomes the rows", () => {
    const { derived } = derive(FULL_WINDOW, {
      overlap: true,
      move_cap: 7,
      prefix_sharing: true,
      checkpoint: { strategy: "no_buffer" },
      host: { full: 3 },
      invariants: 2,
      eviction: "joint_lru",
      check_lengths: true,
    });
    expect(derived).toMatchObject({
      rows: 4,
      row_tokens: 64,
      overlap: true,
      move_cap: 7,
      prefix_sharing: true,
      checkpoint: { strategy: "no_buffer" },
      host: { full: 3 },
      invariants: 2,
      eviction: "joint_lru",
      check_lengths: true,
    });
  });

  test("a strategy that tracks has a grid, 256 where none is stated", () => {
    const checkpoint = (given: Json): unknown =>
      derive(END_PAIR, { checkpoint: given }).derived.checkpoint;
    expect(checkpoint({ strategy: "extra_buffer", interval: 8 })).toEqual({
      strategy: "extra_buffer",
      interval: 8,
    });
    expect(checkpoint({ strategy: "extra_buffer_lazy" })).toMatchObject({ interval: 256 });
  });

  test("the eviction policy may come as a feature", () => {
    const features = { radix_eviction_policy: "joint_lru" };
    expect(derive(FULL_WINDOW, { features }).derived.eviction).toBe("joint_lru");
    expect(derive(FULL_WINDOW, { features, eviction: "lru" }).derived.eviction).toBe("lru");
  });

  test("rows bound the concurrency as the user's limit does", () => {
    expect(derive(FULL_WINDOW, { rows: 3 }).derived.rows).toBe(3);
    expect(derive(FULL_WINDOW, { rows: 9 }).derived.rows).toBe(4);
    expect(deriveConfig(form(FULL_WINDOW, { max_running_requests: 0 }))).toMatchObject({
      refusal: { rule: "feature_conflict" },
    });
  });

  test("a row is as wide as stated, else as the model's context, else 32,768", () => {
    const width = (model: Json, extra: Json): readonly number[] => {
      const { derived, sizingOptions } = derive(model, { budget_bytes: 50_000_000, ...extra });
      return [derived.row_tokens, sizingOptions.contextTokens];
    };
    const long = { ...FULL_WINDOW, max_position_embeddings: 4096 };
    const none = { row_tokens: undefined };
    expect(width(FULL_WINDOW, none)).toEqual([32_768, 32_768]);
    expect(width(long, none)).toEqual([4096, 4096]);
    expect(width(long, { ...none, context_tokens: 100 })).toEqual([100, 100]);
    expect(width(long, { row_tokens: 512 })).toEqual([512, 512]);
    expect(width(long, { row_tokens: 512, context_tokens: 100 })).toEqual([512, 100]);
  });

  test("the primary window is said where there is a choice", () => {
    const draft = { layers: [{ attention: { heads: 1, head_dim: 4, window: 32 } }] };
    const { derived, plan } = derive(FULL_WINDOW, { draft });
    expect(derived.primary_window).toBe("window_8");
    expect(plan.treeSlots).toEqual(["full", "window_8", "window_32"]);
    expect(derive(FULL_WINDOW).derived.primary_window).toBeUndefined();
    const chosen = derive(FULL_WINDOW, { draft, primary_window: "window_32" });
    expect(chosen.derived.primary_window).toBe("window_32");
    expect(chosen.plan.treeSlots).toEqual(["full", "window_32", "window_8"]);
  });

  test.each([
    [{ page_size: 0 }, /page_size is 0/],
    [{ budget_bytes: -1 }, /budget_bytes is -1/],
    [{ mem_fraction: 1.5 }, /mem_fraction is 1\.5/],
    [{ mamba_full_memory_ratio: 2 }, /mamba_full_memory_ratio is 2/],
    [{ checkpoint: { strategy: "sometimes" } }, /no_buffer, extra_buffer or extra_buffer_lazy/],
    [{ host: { fulll: 1 } }, /unknown key "fulll" at \/host; did you mean "full"/],
    [{ draft: 3 }, /\/draft is 3, expected an object/],
    [{ draft: { preset: "inklink" } }, /did you mean "inkling"/],
  ])("a wrong key is an error with its place: %o", (extra, message) => {
    expect(() => deriveConfig(form(END_PAIR, extra))).toThrow(message);
  });
});

describe("decode context parallelism", () => {
  test("widens the page and keeps its bytes: Kimi Linear on two ranks", () => {
    const extra = { page_size: 16, budget_bytes: 10_000_000_000, row_tokens: 4096 };
    const model = { preset: "kimi-linear-48b-a3b" };
    const one = derive(model, extra);
    const two = derive(model, { ...extra, dcp_size: 2 });
    expect(two.derived.page_size).toBe(32);
    expect(two.derived.sub_pools).toEqual([
      { name: "mamba", kind: "state", unit_bytes: 43_417_600 },
      { name: "full", kind: "mla", unit_bytes: 4_032 }, // half of 8,064
    ]);
    expect(two.sizing.sinkBytes).toBe(one.sizing.sinkBytes);
    const report = planReport(form(model, { ...extra, dcp_size: 2 }));
    if ("refusal" in report) throw new Error(report.refusal.message);
    expect(report.report.bands[1]).toMatchObject({ unitBytes: 4_032, pageBytes: 8_064 * 16 });
    // a rank stores every second token: about twice as many fit
    expect(two.sizing.tokens / one.sizing.tokens).toBeCloseTo(2, 3);
  });
});

describe("refusals of the grid", () => {
  test("refused_floor names its terms; what fits it boots", () => {
    const low = deriveConfig(form(FULL_WINDOW, { budget_bytes: 2000 }));
    // window min(64, 8+4) * 96, sink 4 * 96, two rows of 64 ids
    const terms = { window_8: 1152, sink: 384, fixed: 1024 };
    expect(low).toMatchObject({ refusal: { code: "refused_floor", terms } });
    expect(deriveConfig(form(FULL_WINDOW, { budget_bytes: 2559 }))).toMatchObject({
      refusal: { code: "refused_floor", terms },
    });
    expect(derive(FULL_WINDOW, { budget_bytes: 2560 }).targets).toEqual({
      budget_bytes: 2560,
      fixed_bytes: 1024,
      arena_bytes: 1536,
      concurrency: 1,
      full_tokens: 0,
      window_8_tokens: 12,
    });
  });

  test("no_usable_page: a page of 64 tokens in an arena of hardly more than its sink", () => {
    const wide = { ...END_PAIR, name: "wide" };
    // sink 64 * 64, three slots of 160: 4576 bytes hold one page of 4096, the reserved one
    expect(
      deriveConfig(form(wide, { page_size: 64, budget_bytes: 4096 + 480 + 1024 })),
    ).toMatchObject({ refusal: { code: "refused_plan", rule: "no_usable_page", band: "full" } });
  });

  test("misaligned_view: an odd number of bf16 before fp32", () => {
    const odd = {
      layers: [
        { attention: { heads: 1, head_dim: 4 } },
        { state: { conv: [[3]], temporal: [2], conv_dtype: "bfloat16" } },
      ],
    };
    expect(deriveConfig(form(odd))).toMatchObject({
      refusal: { code: "refused_plan", rule: "misaligned_view", band: "mamba" },
    });
  });

  test("kernel_id_space: more than 2^31 rows", () => {
    const tiny = {
      layers: [
        { attention: { heads: 1, head_dim: 1, dtype: "int8" } },
        { attention: { heads: 1, head_dim: 1, dtype: "int8", window: 8 } },
      ],
    };
    expect(deriveConfig(form(tiny, { budget_bytes: 2 ** 33 }))).toMatchObject({
      refusal: { code: "refused_plan", rule: "kernel_id_space", band: "window_8" },
    });
    expect(deriveConfig(form(tiny, { budget_bytes: 2 ** 32 }))).toHaveProperty("derived");
  });
});

describe("the report", () => {
  test("of a model form and of the direct form derived from it agree on every grid", () => {
    for (const model of [END_PAIR, FULL_WINDOW, LATENT_STATE]) {
      const { derived } = derive(model);
      const [ofModel, ofDirect] = [planReport(form(model)), planReport(derived)];
      if ("refusal" in ofModel || "refusal" in ofDirect) throw new Error("refused");
      const grids = (report: typeof ofModel.report): unknown =>
        report.bands.map(({ layers: _layers, layerBytes: _bytes, ...grid }) => grid);
      expect(grids(ofDirect.report)).toEqual(grids(ofModel.report));
      expect(ofDirect.report.treeSlots).toEqual(ofModel.report.treeSlots);
      expect(ofDirect.report.sinkBytes).toBe(ofModel.report.sinkBytes);
    }
  });

  test("of a direct form without an owner is its refusal", () => {
    const direct = {
      page_size: 1,
      arena_bytes: 100,
      sub_pools: [{ name: "mamba", kind: "state", unit_bytes: 4 }],
      rows: 1,
      row_tokens: 8,
    } as const;
    expect(planReport(direct)).toMatchObject({ refusal: { rule: "no_full_owner" } });
  });
});

test("a window of unknown length stays unknown in the direct form", () => {
  const plan = planOf(
    {
      layers: [
        { attention: { heads: 1, head_dim: 4 } },
        { attention: { heads: 1, head_dim: 4, window: null } },
      ],
    },
    { pageTokens: 4 },
  );
  expect(directSubPools(plan)[0]).toEqual({
    name: "window",
    kind: "mha",
    window: null,
    unit_bytes: 16,
  });
});
