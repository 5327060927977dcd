// The model form on the second allocator: numbers of the models' page, laws of sizing, and both allocators alike.
import { describe, expect, it } from "vitest";
import { Prng } from "../../src/base/prng.js";
import type { Answer, ModelConfig } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import { Reference } from "../../src/reference/reference.js";

const FULL = { attention: { heads: 2, head_dim: 4 } }; // 32 bytes a token
const WINDOW = { attention: { heads: 2, head_dim: 4, window: 8 } };
const STATE = { state: { conv: [[4, 3]], temporal: [2, 2, 2] } }; // 24 + 32 bytes
const LINEAR = { state: { ...STATE.state, mixer: "linear" } };
const LATENT = { attention: { kind: "mla", kv_lora_rank: 8 } };

function bootOf(config: ModelConfig): Answer {
  return new Reference(config, null).apply({ op: "boot", args: {} });
}

function configOf(layers: readonly object[], budget: number, more: object = {}): ModelConfig {
  const rest = { page_size: 4, budget_bytes: budget, max_running_requests: 4, row_tokens: 64 };
  return { model: { layers }, ...rest, ...more };
}

describe("unit bytes of the presets", () => {
  // models.md, section 1
  it.each([
    ["gpt-oss-120b", { window_128: 36_864, full: 36_864 }],
    ["gpt-oss-20b", { window_128: 24_576, full: 24_576 }],
    ["gemma-3-27b", { window_1024: 425_984, full: 81_920 }],
    ["gemma-4-31b", { window_1024: 819_200, full: 81_920 }],
    ["qwen3-next-80b-a3b", { mamba: 77_266_944, full: 24_576 }],
    ["qwen3.5-27b", { mamba: 153_944_064, full: 65_536 }],
    ["kimi-linear-48b-a3b", { mamba: 43_417_600, full: 8_064 }],
    ["inkling", { mamba: 7_299_072, window_512: 450_560, full: 45_056 }],
    ["inkling-small", { mamba: 3_096_576, window_512: 143_360, full: 28_672 }],
    ["phi-4-mini-flash-reasoning", { mamba: 1_751_040, window_512: 40_960, full: 5_120 }],
  ])("%s", (preset, units) => {
    const answer = bootOf({ model: { preset }, page_size: 16, budget_bytes: 2 ** 34 });
    const bands = (answer.ok as { bands: Record<string, { unit_bytes: number }> }).bands;
    const got = Object.entries(bands).map(([name, band]) => [name, band.unit_bytes]);
    expect(Object.fromEntries(got)).toEqual(units);
  });

  it.each(["llama-3.1-8b", "deepseek-v3", "qwen2.5-14b"])("%s is full attention only", (preset) => {
    const answer = bootOf({ model: { preset }, page_size: 16, budget_bytes: 2 ** 34 });
    expect(answer.err).toEqual({ code: "refused_plan", rule: "full_only", band: "full" });
  });
});

describe("the floor of one request", () => {
  // window 12 * 32, states 3 * 56, sink 4 * 32, two rows of 64 tokens of 8 bytes
  const terms = { mamba: 168, window_8: 384, sink: 128, fixed: 1024 };

  it("boots when it is met", () => {
    const ok = bootOf(configOf([FULL, WINDOW, STATE], 1704)).ok;
    expect(ok).toMatchObject({ targets: { concurrency: 1, full_tokens: 0, window_8_tokens: 12 } });
  });

  it("is refused a byte below, with its terms", () => {
    const err = bootOf(configOf([FULL, WINDOW, STATE], 1703)).err;
    expect(err).toEqual({ code: "refused_floor", terms });
  });
});

it("tokens, windows and concurrency never shrink as the budget grows, up to the limit", () => {
  let before = { concurrency: 0, full_tokens: 0, window_8_tokens: 0 };
  for (let budget = 1536; budget < 4000; budget += 3) {
    const limit = { max_running_requests: 9 };
    const { targets } = bootOf(configOf([FULL, WINDOW], budget, limit)).ok as unknown as {
      targets: typeof before;
    };
    expect(targets.concurrency).toBeGreaterThanOrEqual(before.concurrency);
    expect(targets.full_tokens).toBeGreaterThanOrEqual(before.full_tokens);
    expect(targets.window_8_tokens).toBeGreaterThanOrEqual(before.window_8_tokens);
    before = targets;
  }
  expect(before.concurrency).toBeGreaterThan(2);
});

const FLAGS: Readonly<Record<string, readonly unknown[]>> = {
  platform: ["rocm", "mps"],
  disable_lazy_compaction: [true],
  enable_lmcache: [true],
  enable_hierarchical_cache: [true],
  speculative_algorithm: ["EAGLE", "DFLASH", "LOOKAHEAD"],
  pp_size: [2],
  disaggregation_mode: ["decode"],
  attention_backend: ["triton", "fa4", "flashinfer", "cutedsl_mla"],
  linear_attn_backend: ["cutedsl"],
  enable_priority_scheduling: [true],
  kv_cache_dtype: ["fp8_e4m3", "nvfp4"],
  tp_size: [2],
  peer: [{ page_size: 8 }, { page_size: 4 }],
};

it("both allocators boot, refuse and size random models alike", () => {
  const random = new Prng(7);
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
  const counts = { ok: 0, err: 0 };
  for (let run = 0; run < 600; run += 1) {
    const parts = [FULL, WINDOW, STATE, LINEAR, LATENT, { ...WINDOW, count: 2 }];
    const layers = [FULL, ...Array.from({ length: 1 + random.below(3) }, () => pick(parts))];
    const names = Array.from({ length: random.below(3) }, () => pick(Object.keys(FLAGS)));
    const features = Object.fromEntries(names.map((name) => [name, pick(FLAGS[name]!)]));
    const config = configOf(layers, pick([1500, 2500, 4000, 20_000, 100_000]), {
      features,
      page_size: pick([1, 4, 16]),
      ...(random.below(4) === 0 ? { max_total_tokens: pick([1, 30, 500]) } : {}),
      ...(random.below(4) === 0 ? { draft: { layers: [pick(parts)] } } : {}),
      ...(random.below(4) === 0 ? { dcp_size: 2 } : {}),
    });
    const self = new KVStorage(config, { digestDepth: "layout" }).apply({ op: "boot", args: {} });
    const got = bootOf(config);
    const { message: _, ...err } = self.err ?? {};
    const expected = self.err === undefined ? { ok: self.ok } : { err };
    expect({ config, answer: got }).toEqual({ config, answer: expected });
    counts[self.err === undefined ? "ok" : "err"] += 1;
  }
  expect(Math.min(counts.ok, counts.err)).toBeGreaterThan(100);
});
