// Every preset's geometry, and every trap that its fields set. The numbers are worked out from the published fields.
import { describe, expect, test } from "vitest";
import { deriveConfig } from "../../../src/kv/build.js";
import { planReport } from "../../../src/kv/build-report.js";
import type { SubPoolPlan } from "../../../src/kv/plan/plan.js";
import { planStorage } from "../../../src/kv/plan/plan.js";
import { PRESETS, presetConfig, presetNamed } from "../../../src/kv/presets/presets.js";
import { declarationsOf } from "../../../src/kv/decl/declarations.js";
import type { DeclarationOptions } from "../../../src/kv/decl/model.js";
import { KVStorage } from "../../../src/kv/storage.js";
import type { Json } from "../layers.js";
import { decls } from "../layers.js";

const pools = (model: Json, options: DeclarationOptions = {}): readonly SubPoolPlan[] => {
  const planned = planStorage(decls(model, options), { pageTokens: 16, allowFullOnly: true });
  if ("refusal" in planned) throw new Error(planned.refusal.message);
  return planned.plan.subPools;
};
const bytesOf = (model: Json, options: DeclarationOptions = {}): Json =>
  Object.fromEntries(pools(model, options).map((pool) => [pool.name, pool.unitBytes]));
const layersOf = (model: Json, name: string): number[] =>
  pools(model)
    .filter((pool) => pool.name === name)
    .flatMap((pool) => pool.parts.map((part) => part.layer));
const configOf = (name: string): Json => structuredClone(presetNamed(name).config);
const textOf = (config: Json): Json => config["text_config"] as Json;

// [preset, layers, full bytes, layers, window bytes, window, layers, state bytes]
const SERVED: readonly [string, number, number, number, number, number, number, number][] = [
  ["gpt-oss-120b", 18, 36_864, 18, 36_864, 128, 0, 0],
  ["gpt-oss-20b", 12, 24_576, 12, 24_576, 128, 0, 0],
  ["gemma-3-27b", 10, 81_920, 52, 425_984, 1024, 0, 0],
  ["gemma-4-31b", 10, 81_920, 50, 819_200, 1024, 0, 0],
  ["qwen3-next-80b-a3b", 12, 24_576, 0, 0, 0, 36, 77_266_944],
  ["qwen3.5-27b", 16, 65_536, 0, 0, 0, 48, 153_944_064],
  ["kimi-linear-48b-a3b", 7, 8_064, 0, 0, 0, 20, 43_417_600],
  ["inkling", 11, 45_056, 55, 450_560, 512, 66, 7_299_072],
  ["inkling-small", 7, 28_672, 35, 143_360, 512, 42, 3_096_576],
  // 20 heads of 64 on one full and eight window layers; conv (5120,3) and (5120,16) in bf16 on nine.
  ["phi-4-mini-flash-reasoning", 1, 5_120, 8, 40_960, 512, 9, 1_751_040],
];

describe("presets that are served", () => {
  test.each(SERVED)(
    "%s",
    (preset, full, fullBytes, windows, windowBytes, window, states, stateBytes) => {
      const found = pools({ preset });
      const row = (name: string): readonly [number, number] => {
        const pool = found.find((entry) => entry.name === name);
        return [pool?.parts.length ?? 0, pool?.unitBytes ?? 0];
      };
      expect(row("full")).toEqual([full, fullBytes]);
      expect(row(`window_${window}`)).toEqual([windows, windowBytes]);
      expect(row("mamba")).toEqual([states, stateBytes]);
      expect(found).toHaveLength([full, windows, states].filter((count) => count > 0).length);
    },
  );

  test("boot from a budget and have a plan to show", () => {
    for (const { name, refusedAs } of PRESETS) {
      const shown = planReport({
        model: { preset: name },
        page_size: 16,
        budget_bytes: 40_000_000_000,
        max_running_requests: 32,
      });
      if (refusedAs !== null) {
        expect(shown, name).toMatchObject({ refusal: { code: "refused_plan", rule: refusedAs } });
        continue;
      }
      if ("refusal" in shown) throw new Error(`${name}: ${shown.refusal.message}`);
      expect(shown.report.rows).toBe(32);
      expect(shown.report.targets["full_tokens"]).toBeGreaterThan(10_000);
      expect(shown.report.bands.every((band) => band.usablePages > 0)).toBe(true);
      expect(shown.report.source).not.toBe("");
    }
  });

  test("boot from their name alone, or as they are refused", () => {
    for (const { name, refusedAs } of PRESETS) {
      const storage = new KVStorage(presetConfig(name), { digestDepth: null });
      const { ok, err } = storage.apply({ op: "boot", args: {} });
      expect(err?.rule ?? null, name).toBe(refusedAs);
      if (refusedAs !== null) continue;
      expect(ok, name).toMatchObject({ targets: { concurrency: 64 } });
      expect(storage.direct?.rows, name).toBe(64);
    }
  });

  test("name a public source and no other preset's name", () => {
    expect(new Set(PRESETS.map((preset) => preset.name)).size).toBe(PRESETS.length);
    for (const preset of PRESETS)
      expect(preset.source, preset.name).toMatch(/(github\.com|huggingface\.co|docs\.vllm\.ai)/);
  });

  test("one holds windows and state together, one of them a state that is not empty", () => {
    const together = PRESETS.filter(({ name, refusedAs }) => {
      const kinds = refusedAs === null ? pools({ preset: name }).map((pool) => pool.grow) : [];
      return kinds.length === 3;
    });
    expect(together.map((preset) => preset.name)).toEqual([
      "inkling",
      "inkling-small",
      "phi-4-mini-flash-reasoning",
    ]);
  });
});

describe("shapes that are refused", () => {
  // Layer bytes times layers: 8*256*2*32, 576*2*61, 8*256*2*48.
  test.each([
    ["llama-3.1-8b", 131_072],
    ["deepseek-v3", 70_272],
    ["qwen2.5-14b", 196_608],
  ])("%s stores full attention alone", (preset, fullBytes) => {
    expect(bytesOf({ preset })).toEqual({ full: fullBytes });
    expect(
      deriveConfig({ model: { preset }, page_size: 16, budget_bytes: 80_000_000_000 }),
    ).toMatchObject({ refusal: { code: "refused_plan", rule: "full_only", band: "full" } });
  });

  test("an unknown preset is an error with the nearest name", () => {
    expect(() => declarationsOf({ preset: "gpt-oss-120" })).toThrow(/did you mean "gpt-oss-120b"/);
  });
});

describe("traps", () => {
  test("1: Gemma 4's plain fields are the windows', Inkling's the full layers'", () => {
    const text = textOf(configOf("gemma-4-31b"));
    expect(bytesOf({ ...text, num_key_value_heads: 8 })["full"]).toBe(81_920);
    expect(bytesOf({ ...text, num_key_value_heads: 8 })["window_1024"]).toBe(409_600);
    const inkling = { ...textOf(configOf("inkling-small")), model_type: "inkling_model" };
    expect(bytesOf({ ...inkling, num_key_value_heads: 4 })["full"]).toBe(14_336);
    expect(bytesOf({ ...inkling, num_key_value_heads: 4 })["window_512"]).toBe(143_360);
  });

  test("2: sharing a projection shares no cache; without it the global heads do not count", () => {
    const text = textOf(configOf("gemma-4-31b"));
    // 10 layers * 4 heads * (512 + 512) * 2 bytes with it, 16 heads without
    expect(bytesOf({ ...text, attention_k_eq_v: true })["full"]).toBe(10 * 4 * 1024 * 2);
    expect(bytesOf({ ...text, attention_k_eq_v: false })["full"]).toBe(10 * 16 * 1024 * 2);
  });

  test("3: layers that share an earlier layer's cache store nothing", () => {
    const five = ["sliding_attention", "sliding_attention", "sliding_attention"].concat(
      "sliding_attention",
      "full_attention",
    );
    const small = {
      model_type: "gemma4_text",
      num_hidden_layers: 35,
      num_attention_heads: 8,
      num_key_value_heads: 1,
      head_dim: 256,
      global_head_dim: 512,
      num_kv_shared_layers: 20,
      attention_k_eq_v: false,
      sliding_window: 512,
      layer_types: Array.from({ length: 35 }, (_, index) => five[index % 5]),
    };
    expect(layersOf(small, "full")).toEqual([4, 9, 14]);
    expect(bytesOf(small)).toEqual({ window_512: 12 * 512 * 2, full: 3 * 1024 * 2 });
    expect(bytesOf({ ...small, num_kv_shared_layers: 0 })["full"]).toBe(7 * 1024 * 2);
  });

  test("4: Gemma 4's last layer is full whatever the file says, Gemma 3's is not", () => {
    const text = textOf(configOf("gemma-4-31b"));
    const types = [...(text["layer_types"] as string[])];
    types[59] = "sliding_attention";
    expect(layersOf({ ...text, layer_types: types }, "full")).toContain(59);
    expect(layersOf({ preset: "gemma-3-27b" }, "full")).toEqual([
      5, 11, 17, 23, 29, 35, 41, 47, 53, 59,
    ]);
    expect(layersOf({ preset: "gemma-3-27b" }, "window_1024").slice(-2)).toEqual([60, 61]);
  });

  test("4: Gemma 3 without layer types follows either name of the pattern", () => {
    const text = textOf(configOf("gemma-3-27b"));
    expect(layersOf({ ...text, sliding_window_pattern: 31 }, "full")).toEqual([30, 61]);
    expect(layersOf({ ...text, _sliding_window_pattern: 31 }, "full")).toEqual([30, 61]);
  });

  test("5: Kimi's lists count from 1, its head fields are decoys, its rope columns exist", () => {
    expect(layersOf({ preset: "kimi-linear-48b-a3b" }, "full")).toEqual([3, 7, 11, 15, 19, 23, 26]);
    const config = configOf("kimi-linear-48b-a3b");
    expect(bytesOf({ ...config, head_dim: 999, num_key_value_heads: 1 })["full"]).toBe(8_064);
    expect(bytesOf({ ...config, qk_rope_head_dim: 0 })["full"]).toBe(7 * 512 * 2);
  });

  test("6: Inkling charges six convolutions on every layer", () => {
    expect(layersOf({ preset: "inkling" }, "mamba")).toHaveLength(66);
    // three rows of 1024+1024+2048+2048+6144+6144 channels in bf16
    expect(bytesOf({ preset: "inkling" })["mamba"]).toBe(66 * 3 * 18_432 * 2);
    expect(layersOf({ preset: "inkling" }, "full")).toEqual([
      5, 11, 17, 23, 29, 35, 41, 47, 53, 59, 65,
    ]);
  });

  test("7: a window field that is switched off, or layer types all full, is no window", () => {
    const config = configOf("qwen2.5-14b");
    expect(Object.keys(bytesOf(config))).toEqual(["full"]);
    const types = Array<string>(48).fill("full_attention");
    expect(
      Object.keys(bytesOf({ ...config, use_sliding_window: true, layer_types: types })),
    ).toEqual(["full"]);
    const on = { ...config, use_sliding_window: true, max_window_layers: 40 };
    expect(layersOf(on, "window_131072")).toEqual([40, 41, 42, 43, 44, 45, 46, 47]);
  });

  test("8: an absent head dimension is hidden size over heads", () => {
    expect(bytesOf({ ...configOf("llama-3.1-8b"), hidden_size: 2048 })["full"]).toBe(65_536);
    expect(() => bytesOf({ ...configOf("llama-3.1-8b"), hidden_size: 4097 })).toThrow(/head_dim/);
  });

  test("the pattern fields stand in for absent layer types", () => {
    expect(layersOf({ preset: "qwen3-next-80b-a3b" }, "full").slice(0, 3)).toEqual([3, 7, 11]);
    const types = Array.from({ length: 48 }, (_, index) =>
      index === 1 ? "full_attention" : "linear_attention",
    );
    const config = { ...configOf("qwen3-next-80b-a3b"), layer_types: types };
    expect(layersOf(config, "full")).toEqual([1]);
  });
});

describe("element types", () => {
  test("the temporal state in bf16", () => {
    const slot = (preset: string): unknown =>
      bytesOf({ preset, mamba_ssm_dtype: "bfloat16" })["mamba"];
    expect(slot("qwen3-next-80b-a3b")).toBe(39_518_208);
    expect(slot("qwen3.5-27b")).toBe(78_446_592);
  });

  test("KV in fp8 is one byte an element, by flag or by the file's quantization", () => {
    expect(bytesOf({ preset: "gpt-oss-120b", kv_cache_dtype: "fp8_e4m3" })["full"]).toBe(18_432);
    expect(bytesOf({ preset: "gpt-oss-120b" }, { kvElement: "fp8_e5m2" })["full"]).toBe(18_432);
    const quantized = {
      ...configOf("gpt-oss-120b"),
      quantization_config: { kv_cache_quant_algo: "FP8" },
    };
    expect(bytesOf(quantized)["full"]).toBe(18_432);
    expect(bytesOf(quantized, { kvElement: "bfloat16" })["full"]).toBe(36_864);
    expect(bytesOf({ ...configOf("gpt-oss-120b"), torch_dtype: "float32" })["full"]).toBe(73_728);
  });
});

describe("tensor parallelism", () => {
  test("KV heads are divided, at least one a rank; latent rows are not", () => {
    expect(bytesOf({ preset: "gpt-oss-120b" }, { tensorParallel: 4 })["full"]).toBe(9_216);
    expect(bytesOf({ preset: "qwen3.5-27b" }, { tensorParallel: 16 })["full"]).toBe(16_384);
    expect(bytesOf({ preset: "kimi-linear-48b-a3b" }, { tensorParallel: 8 })["full"]).toBe(8_064);
  });

  test("conv channels and temporal heads are divided, Inkling's two streams are not", () => {
    // 4096 channels * 3 * 2 bytes + 16 * 128 * 128 * 4 bytes on 36 layers
    expect(bytesOf({ preset: "qwen3-next-80b-a3b" }, { tensorParallel: 2 })["mamba"]).toBe(
      36 * (24_576 + 1_048_576),
    );
    // 16 key heads on 32 ranks are repeated: (2*32*128 + 48*128) / 32 is no longer divisible, 48 heads neither
    expect(() => bytesOf({ preset: "qwen3.5-27b" }, { tensorParallel: 32 })).toThrow(/32 ranks/);
    // three rows of 128+128+256+256+6144+6144 channels
    expect(bytesOf({ preset: "inkling" }, { tensorParallel: 8 })["mamba"]).toBe(
      66 * 3 * 13_056 * 2,
    );
  });
});
