// Small written-out models for the tests of planning, sizing and layout, and random ones.
import type { KVLayerDecl } from "../../src/kv/decl/types.js";
import { declarationsOf } from "../../src/kv/decl/declarations.js";
import type { DeclarationOptions } from "../../src/kv/decl/model.js";
import type { KVStoragePlan, PlanOptions } from "../../src/kv/plan/plan.js";
import { planStorage } from "../../src/kv/plan/plan.js";
import type { Prng } from "../../src/base/prng.js";

export type Json = Record<string, unknown>;

/** Two layers of 2 heads of 4 in fp16 (64 bytes a token), two of state in fp32 (160 bytes a slot). */
export const END_PAIR: Json = {
  layers: [
    { count: 2, attention: { heads: 2, head_dim: 4, dtype: "float16" } },
    {
      count: 2,
      state: {
        conv: [[4, 3]],
        conv_dtype: "float32",
        temporal: [2, 2, 2],
        temporal_dtype: "float32",
      },
    },
  ],
};

/** One full layer of 32 bytes a token, three window layers of 96 together. */
export const FULL_WINDOW: Json = {
  layers: [
    { attention: { heads: 2, head_dim: 4, dtype: "float16" } },
    { count: 3, attention: { heads: 2, head_dim: 4, dtype: "float16", window: 8 } },
  ],
};

/** Three latent layers of 16 bytes a token and one of state. */
export const LATENT_STATE: Json = {
  layers: [
    { count: 3, attention: { kind: "mla", kv_lora_rank: 6, qk_rope_head_dim: 2 } },
    { state: { conv: [[2, 3]], temporal: [2, 4], mixer: "linear" } },
  ],
};

export function decls(model: Json, options: DeclarationOptions = {}): readonly KVLayerDecl[] {
  const declared = declarationsOf(model, options);
  if ("refusal" in declared) throw new Error(declared.refusal.message);
  return declared.model.decls;
}

export function planOf(model: Json, options: PlanOptions): KVStoragePlan {
  const planned = planStorage(decls(model), options);
  if ("refusal" in planned) throw new Error(planned.refusal.message);
  return planned.plan;
}

const DTYPES = ["float32", "bfloat16", "fp8_e4m3", "int8"] as const;

/** A model with a full band and at least one other, of random shapes. */
export function randomLayers(prng: Prng): Json {
  const attention = (): Json => ({
    heads: prng.between(1, 3),
    head_dim: prng.between(1, 6),
    v_head_dim: prng.between(1, 6),
    dtype: prng.pick(DTYPES),
  });
  const isLatent = prng.chance(1, 4);
  const full: Json = isLatent
    ? { kind: "mla", kv_lora_rank: prng.between(1, 9), qk_rope_head_dim: prng.below(4) }
    : attention();
  if (prng.chance(1, 4)) full["index_key"] = { shape: [prng.between(1, 9)], dtype: "uint8" };
  const layers: Json[] = [{ count: prng.between(1, 4), attention: full }];
  const windows = isLatent ? 0 : prng.below(3);
  for (let at = 0; at < windows; at++)
    layers.push({
      count: prng.between(1, 3),
      attention: { ...attention(), window: 3 + 5 * at + prng.below(5) },
    });
  if (windows === 0 || prng.chance(1, 2)) {
    const conv = Array.from({ length: prng.between(1, 3) }, () => [
      prng.between(1, 5),
      prng.between(1, 4),
    ]);
    const siblings = Array.from({ length: prng.below(3) }, () => ({
      shape: [prng.between(1, 3)],
      dtype: prng.pick(["int64", "int32", "uint8"]),
    }));
    layers.push({
      count: prng.between(1, 3),
      state: {
        conv,
        conv_dtype: prng.pick(DTYPES),
        temporal: prng.chance(1, 3) ? [0, 0] : [prng.between(1, 3), prng.between(1, 4)],
        temporal_dtype: prng.pick(DTYPES),
        siblings,
      },
    });
  }
  return { layers };
}
