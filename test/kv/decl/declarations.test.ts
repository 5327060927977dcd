// Declarations: bytes of a unit, what is checked, which files are refused by name.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { declarationsOf } from "../../../src/kv/decl/declarations.js";
import { kvPart, partBytes, unitBytesOf } from "../../../src/kv/decl/parts.js";
import { planStorage } from "../../../src/kv/plan/plan.js";
import type { Json } from "../layers.js";
import { decls, END_PAIR, randomLayers } from "../layers.js";

const state = (shapes: Json): Json => ({
  layers: [{ attention: { heads: 1, head_dim: 1 } }, { state: shapes }],
});
const stateBytes = (shapes: Json): number => unitBytesOf(decls(state(shapes))[1]?.parts ?? []);

describe("unit bytes", () => {
  test("are the sum over layers of what each layer stores, over random models", () => {
    for (let seed = 0; seed < 300; seed++) {
      const layers = decls(randomLayers(new Prng(seed)));
      const planned = planStorage(layers, { pageTokens: 4 });
      if ("refusal" in planned) throw new Error(planned.refusal.message);
      const stored = planned.plan.subPools.reduce((sum, pool) => sum + pool.unitBytes, 0);
      const parts = layers.flatMap((layer) => layer.parts);
      const declared = parts.reduce((sum, part) => sum + partBytes(part), 0);
      const siblings = Math.max(
        0,
        ...parts.map(
          (part) => part.unitBlocks.filter(({ name }) => name.startsWith("sibling")).length,
        ),
      );
      // each run of siblings and the slot's end round up to 8
      expect(stored - declared).toBeGreaterThanOrEqual(0);
      expect(stored - declared).toBeLessThanOrEqual(siblings === 0 ? 0 : 7 * (siblings + 1));
    }
  });

  test("of the pair with full 64 and state 160", () => {
    const [full, , slot] = decls(END_PAIR);
    expect(partBytes(full!.parts[0]!)).toBe(2 * 4 * 2 * 2); // heads, dimension, fp16, K and V
    expect(partBytes(slot!.parts[0]!)).toBe(4 * 3 * 4 + 2 * 2 * 2 * 4); // conv, temporal, fp32
    expect(unitBytesOf(decls(END_PAIR)[0]!.parts)).toBe(32);
  });

  test("of asymmetric K and V, of latent rows, of index keys", () => {
    const bytes = (attention: Json): number =>
      partBytes(decls({ layers: [{ attention }] })[0]!.parts[0]!);
    expect(bytes({ heads: 3, head_dim: 4, v_head_dim: 2 })).toBe(3 * (4 + 2) * 2);
    expect(bytes({ heads: 3, head_dim: 4 })).toBe(3 * 8 * 2);
    expect(bytes({ kind: "mla", kv_lora_rank: 512, qk_rope_head_dim: 64 })).toBe(1152);
    expect(bytes({ kind: "mla", kv_lora_rank: 512, qk_rope_head_dim: 64, dtype: "fp8_e4m3" })).toBe(
      576,
    );
    expect(bytes({ heads: 1, head_dim: 2, index_key: { shape: [132], dtype: "uint8" } })).toBe(
      8 + 132,
    );
  });

  test("of siblings begin and end on a multiple of 8; without one nothing is rounded", () => {
    expect(stateBytes({ conv: [[5]], conv_dtype: "int8", temporal: [0] })).toBe(5);
    expect(
      stateBytes({ conv: [[5]], conv_dtype: "int8", temporal: [0], siblings: [{ shape: [1] }] }),
    ).toBe(16);
    const three = [{ shape: [3], dtype: "uint8" }, { shape: [1] }];
    expect(stateBytes({ conv: [[8]], conv_dtype: "int8", temporal: [0], siblings: three })).toBe(
      8 + 8 + 8,
    );
  });

  test("a temporal shape with a zero is a conv-only model", () => {
    expect(stateBytes({ conv: [[3, 2]], temporal: [0, 0, 0] })).toBe(12);
  });
});

describe("checks", () => {
  const place = { layer: 7, role: "target" } as const;
  test.each([
    [{ kind: "mha", heads: 0, keyDim: 1, valueDim: 1, element: "int8" }, /layer 7: KV heads is 0/],
    [{ kind: "mha", heads: 1, keyDim: 1, valueDim: 0, element: "int8" }, /V head dimension is 0/],
    [{ kind: "mha", heads: 1, keyDim: 1.5, valueDim: 1, element: "int8" }, /K head dimension/],
    [{ kind: "mla", latentDim: 0, ropeDim: 0, element: "int8" }, /latent dimension is 0/],
  ] as const)("%o", (geometry, message) => {
    expect(() => kvPart(geometry, { kind: "full" }, place)).toThrow(message);
  });

  test("a state needs a conv shape, and a lifetime that fits", () => {
    const geometry = {
      kind: "state",
      mixer: "mamba",
      conv: [],
      temporal: { shape: [1], element: "float32" },
      siblings: [],
    } as const;
    const lifetime = { kind: "state", checkpointTokens: null } as const;
    expect(() => kvPart(geometry, lifetime, place)).toThrow(/at least one conv shape/);
    const conv = [{ shape: [1], element: "float32" }] as const;
    expect(() => kvPart({ ...geometry, conv }, { kind: "full" }, place)).toThrow(/cannot live as/);
  });

  test.each([
    [{}, /names no layers/],
    [{ layers: [] }, /at least one layer/],
    [{ layers: [{ attention: { heads: 1 } }] }, /\/model\/layers\/0\/attention\/head_dim/],
    [{ layers: [{ attention: { heads: 1, head_dims: 1 } }] }, /did you mean "head_dim"/],
    [{ preset: "gpt-oss-20b", num_hidden_layers: 3 }, /unknown key "num_hidden_layers"/],
    [{ num_hidden_layers: 0 }, /num_hidden_layers is 0/],
    [
      { num_hidden_layers: 2, num_attention_heads: 1, head_dim: 1, layer_types: ["attention"] },
      /1 entries for 2 layers/,
    ],
    [
      { num_hidden_layers: 1, num_attention_heads: 1, head_dim: 1, layer_types: ["odd"] },
      /"odd" is no known kind/,
    ],
    [{ num_hidden_layers: 1, num_attention_heads: 1, head_dim: 1, dtype: "f7" }, /element type/],
  ])("a wrong model is an error with its place: %o", (model, message) => {
    expect(() => declarationsOf(model as Json)).toThrow(message);
  });

  test("the layers of a stage are its own", () => {
    const local = (range: readonly number[]): Json => ({ ...END_PAIR, local_layers: range });
    expect(decls(local([1, 2])).map((layer) => layer.layer)).toEqual([1, 2]);
    expect(() => decls(local([3, 2]))).toThrow(/beyond 4 layers/);
  });
});

describe("models refused by name", () => {
  const base = { num_hidden_layers: 2, num_attention_heads: 2, head_dim: 4 };
  test.each([
    { model_type: "deepseek_v4" },
    { architectures: ["DeepseekV4ForCausalLM"] },
    { model_type: "qwen4_exp", text_config: { ...base, model_type: "qwen4_exp_text" } },
    { model_type: "kimi_k3", text_config: { ...base, model_type: "kimi_linear" } },
    { architectures: ["UnlimitedOCRV2ForCausalLM"] },
    { model_type: "minicpm", sparse_config: { topk: 64 } },
    { model_type: "nemotron_h", hybrid_override_pattern: "M*M*" },
    { model_type: "jamba", attn_layer_period: 8 },
  ])("%o", (names) => {
    expect(declarationsOf({ ...base, ...names })).toMatchObject({
      refusal: { code: "refused_plan", rule: "model_unsupported" },
    });
  });

  test("MiniCPM without sparse attention is read like any other file", () => {
    expect(declarationsOf({ ...base, model_type: "minicpm" })).toHaveProperty("model");
  });
});

test("local attention attends in chunks", () => {
  const declared = declarationsOf({
    model_type: "llama4_text",
    num_hidden_layers: 2,
    num_attention_heads: 2,
    head_dim: 4,
    attention_chunk_size: 8192,
    layer_types: ["chunked_attention", "full_attention"],
  });
  if ("refusal" in declared) throw new Error(declared.refusal.message);
  expect(declared.model.isLocalAttention).toBe(true);
  expect(declared.model.decls[0]?.parts[0]?.lifetime).toEqual({ kind: "window", tokens: 8192 });
});
