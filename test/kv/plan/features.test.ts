// The user guide's tables: each refusal once with what breaks it, and once with what it takes to be served.
import { describe, expect, test } from "vitest";
import type { ModelConfig } from "../../../src/base/operations.js";
import { deriveConfig } from "../../../src/kv/build.js";
import {
  BACKEND_TABLE,
  FEATURE_KEYS,
  NOTICES,
  REFUSED_FLAGS,
} from "../../../src/kv/features/tables.js";
import type { Json } from "../layers.js";
import { FULL_WINDOW, LATENT_STATE } from "../layers.js";

const GATED: Json = { preset: "qwen3-next-80b-a3b" };
const KIMI: Json = { preset: "kimi-linear-48b-a3b" };
const GPT_OSS: Json = { preset: "gpt-oss-20b" };
const INKLING: Json = { preset: "inkling-small" };
const ASYMMETRIC: Json = {
  layers: [
    { attention: { heads: 1, head_dim: 4, v_head_dim: 2 } },
    { attention: { heads: 1, head_dim: 4, v_head_dim: 2, window: 8 } },
  ],
};

const config = (model: Json, features: Json, extra: Json = {}): ModelConfig => ({
  model,
  page_size: 16,
  // A small token in a large arena runs out of 32-bit kernel ids.
  budget_bytes: "layers" in model ? 1_000_000_000 : 80_000_000_000,
  max_running_requests: 8,
  features,
  ...extra,
});
const answer = (model: Json, features: Json, extra: Json = {}): string => {
  const derived = deriveConfig(config(model, features, extra));
  if (!("refusal" in derived)) return "served";
  const { refusal } = derived;
  return refusal.code === "refused_plan" ? refusal.rule : refusal.code;
};
const noticesOf = (model: Json, features: Json): readonly string[] => {
  const derived = deriveConfig(config(model, features));
  if ("refusal" in derived) throw new Error(derived.refusal.message);
  return derived.notices;
};

describe("attention backends", () => {
  const ALL = ["triton", "fa3", "fa4", "flashinfer", "trtllm_mha", "trtllm_mla"].concat([
    "cutedsl_mla",
    "flashmla",
    "torch_native",
    "minicpm_flashattn",
  ]);
  test.each([
    ["mha", GPT_OSS],
    ["mha_asymmetric", ASYMMETRIC],
    ["mla", KIMI],
  ] as const)("%s", (layers, model) => {
    const served = ALL.filter(
      (backend) => answer(model, { attention_backend: backend }) === "served",
    );
    expect([...served].sort()).toEqual([...BACKEND_TABLE[layers]].sort());
    for (const backend of ALL.filter((name) => !served.includes(name)))
      expect(answer(model, { attention_backend: backend })).toBe("backend_unsupported");
  });

  test("prefill and decode are judged each for itself", () => {
    const both = { prefill_attention_backend: "fa3", decode_attention_backend: "torch_native" };
    expect(answer(GPT_OSS, both)).toBe("backend_unsupported");
    expect(answer(GPT_OSS, { ...both, decode_attention_backend: "trtllm_mha" })).toBe("served");
  });

  test("fa3 and fa4 refuse local attention and prefill-aware windows", () => {
    const local = {
      model_type: "llama4_text",
      num_hidden_layers: 4,
      num_attention_heads: 2,
      head_dim: 8,
      attention_chunk_size: 64,
      layer_types: ["chunked_attention", "chunked_attention", "full_attention", "full_attention"],
    };
    for (const backend of ["fa3", "fa4"]) {
      expect(answer(local, { attention_backend: backend })).toBe("backend_unsupported");
      const aware = { attention_backend: backend, enable_prefill_aware_swa: true };
      expect(answer(GPT_OSS, aware)).toBe("backend_unsupported");
    }
    expect(answer(local, { attention_backend: "triton" })).toBe("served");
  });

  test("only triton serves several windows of one runner; a draft's runner is another one", () => {
    const two = {
      layers: [
        { attention: { heads: 1, head_dim: 4 } },
        { attention: { heads: 1, head_dim: 4, window: 8 } },
        { attention: { heads: 1, head_dim: 4, window: 16 } },
      ],
    };
    expect(answer(two, { attention_backend: "flashinfer" })).toBe("backend_unsupported");
    expect(answer(two, { attention_backend: "triton" })).toBe("served");
    const draft = { layers: [{ attention: { heads: 1, head_dim: 4, window: 16 } }] };
    expect(answer(FULL_WINDOW, { attention_backend: "flashinfer" }, { draft })).toBe("served");
  });
});

describe("state backends", () => {
  test.each([
    ["linear_attn_decode_backend", "triton flashinfer", "cutedsl helion"],
    ["linear_attn_prefill_backend", "triton flashkda flashinfer", "cutedsl helion"],
  ])("%s", (key, everywhere, onLatent) => {
    for (const backend of everywhere.split(" ")) {
      expect(answer(GATED, { [key]: backend })).toBe("served");
      expect(answer(KIMI, { [key]: backend })).toBe("served");
    }
    for (const backend of onLatent.split(" ")) {
      expect(answer(GATED, { [key]: backend })).toBe("backend_unsupported");
      expect(answer(KIMI, { [key]: backend })).toBe("served");
    }
    expect(answer(KIMI, { [key]: "ptx_kda" })).toBe("backend_unsupported");
    expect(answer(GPT_OSS, { [key]: "ptx_kda" })).toBe("served"); // no linear layer
  });

  test("flashkda prefills only", () => {
    expect(answer(KIMI, { linear_attn_backend: "flashkda" })).toBe("backend_unsupported");
    const prefill = { linear_attn_backend: "triton", linear_attn_prefill_backend: "flashkda" };
    expect(answer(KIMI, prefill)).toBe("served");
  });

  test("Mamba is served by triton", () => {
    expect(answer(INKLING, { mamba_backend: "flashinfer" })).toBe("backend_unsupported");
    expect(answer(INKLING, { mamba_backend: "triton" })).toBe("served");
  });
});

describe("refused outright", () => {
  test.each(REFUSED_FLAGS.map(([key]) => key))("%s", (key) => {
    expect(answer(GPT_OSS, { [key]: true })).toBe("feature_conflict");
    expect(answer(GPT_OSS, { [key]: false })).toBe("served");
  });

  test.each([
    [{ kv_cache_dtype: "nvfp4" }, "feature_conflict"],
    [{ kv_cache_dtype: "fp4_mx_block16" }, "feature_conflict"],
    [{ kv_cache_dtype: "fp8_e4m3" }, "served"],
    [{ cp_kv_layout: "sharded_padded" }, "feature_conflict"],
    [{ cp_kv_layout: "replicated" }, "served"],
    [{ platform: "mps" }, "feature_conflict"],
    [{ platform: "mlx" }, "feature_conflict"],
    [{ platform: "somewhere_else" }, "feature_conflict"],
    [{ platform: "rocm" }, "served"],
    [{ platform: "rocm", post_capture_kv_sizing: true }, "feature_conflict"],
    [{ post_capture_kv_sizing: true }, "served"],
    [{ disable_lazy_compaction: true }, "eager_compaction"],
    [{ enable_unified_memory: false }, "feature_conflict"],
    [{ enable_unified_memory: true, enable_war_barrier: false }, "served"],
  ])("%o: %s", (features, expected) => {
    expect(answer(GPT_OSS, features)).toBe(expected);
  });
});

describe("speculation and host cache", () => {
  test.each([
    [{ speculative_algorithm: "EAGLE" }, "served"],
    [{ speculative_algorithm: "NEXTN" }, "served"],
    [{ speculative_algorithm: "DSPARK", speculative_eagle_topk: 1 }, "served"],
    [{ speculative_algorithm: "EAGLE3", speculative_eagle_topk: 4 }, "feature_conflict"],
    [{ speculative_algorithm: "NGRAM" }, "feature_conflict"],
    [{ speculative_algorithm: "FROZEN_KV_MTP" }, "feature_conflict"],
    [{ enable_hierarchical_cache: true }, "served"],
    [{ enable_hierarchical_cache: true, speculative_algorithm: "NEXTN" }, "feature_conflict"],
    [{ enable_hierarchical_cache: true, speculative_algorithm: "DFLASH" }, "served"],
    [
      { enable_hierarchical_cache: true, hicache_host_memory_mode: "buffer_only", pp_size: 2 },
      "feature_conflict",
    ],
    [{ enable_hierarchical_cache: true, hicache_host_memory_mode: "buffer_only" }, "served"],
  ])("%o: %s", (features, expected) => {
    expect(answer(GPT_OSS, features)).toBe(expected);
  });

  test("a fused draft without a named algorithm speculates", () => {
    const draft = { layers: [{ attention: { heads: 8, head_dim: 64 } }] };
    expect(answer(GPT_OSS, { enable_hierarchical_cache: true }, { draft })).toBe(
      "feature_conflict",
    );
    expect(answer(GPT_OSS, {}, { draft })).toBe("served");
  });
});

describe("disaggregation", () => {
  const prefill = { disaggregation_mode: "prefill", disaggregation_transfer_backend: "mooncake" };
  test.each([
    [{}, "served"],
    [{ disaggregation_transfer_backend: "nixl" }, "feature_conflict"],
    [{ pp_size: 2 }, "feature_conflict"],
    [{ speculative_algorithm: "EAGLE" }, "feature_conflict"],
    [{ disagg_staging_buffer: true }, "feature_conflict"],
    [{ enable_hisparse: true }, "feature_conflict"],
    [{ disaggregation_decode_enable_offload_kvcache: true }, "feature_conflict"],
    [
      { disaggregation_decode_enable_offload_kvcache: true, hicache_storage_backend: "file" },
      "feature_conflict", // every model served here has windows, state or latent rows
    ],
    [{ peer: { enable_unified_memory: false } }, "peer_mismatch"],
    [{ peer: { page_size: 32 } }, "peer_mismatch"],
    [{ peer: { attn_tp_size: 2 } }, "peer_mismatch"],
    [{ tp_size: 2, peer: { attn_tp_size: 2 } }, "served"],
    [{ tp_size: 4, dp_size: 2, enable_dp_attention: true, peer: { attn_tp_size: 2 } }, "served"],
    [{ peer: { model: { preset: "gpt-oss-120b" } } }, "peer_mismatch"],
    [{ peer: { page_size: 16, model: GPT_OSS, enable_unified_memory: true } }, "served"],
  ])("%o: %s", (features, expected) => {
    expect(answer(GPT_OSS, { ...prefill, ...features })).toBe(expected);
  });

  test("a retraction backup in the host pool has no place for state", () => {
    const features = { disaggregation_decode_retraction_backup: "host_pool" };
    expect(answer(GATED, features)).toBe("feature_conflict");
    expect(answer(GPT_OSS, features)).toBe("served");
  });
});

describe("parallelism", () => {
  test.each([
    [{ pp_size: 2 }, "served"],
    [{ pp_size: 2, enable_streaming_session: true }, "feature_conflict"],
    [{ pp_size: 2, enable_session_radix_cache: true }, "feature_conflict"],
    [{ enable_session_radix_cache: true, enable_streaming_session: true }, "served"],
  ])("%o: %s", (features, expected) => {
    expect(answer(GPT_OSS, features)).toBe(expected);
  });

  const spec = (extra: Json): Json => ({ speculative_algorithm: "EAGLE", ...extra });
  test.each([
    [GPT_OSS, {}, "feature_conflict"],
    [GATED, {}, "feature_conflict"],
    [KIMI, {}, "served"],
    [KIMI, { attention_backend: "flashinfer" }, "served"],
    [KIMI, { attention_backend: "trtllm_mla" }, "served"],
    [KIMI, { attention_backend: "cutedsl_mla" }, "served"],
    [KIMI, { attention_backend: "triton" }, "backend_unsupported"],
    [KIMI, { disaggregation_mode: "decode" }, "feature_conflict"],
    [KIMI, spec({ attention_backend: "trtllm_mla" }), "backend_unsupported"],
    [KIMI, spec({ attention_backend: "cutedsl_mla" }), "served"],
    [
      KIMI,
      spec({
        prefill_attention_backend: "trtllm_mla",
        decode_attention_backend: "cutedsl_mla",
        speculative_attention_mode: "decode",
      }),
      "served",
    ],
    [
      KIMI,
      spec({
        prefill_attention_backend: "trtllm_mla",
        decode_attention_backend: "cutedsl_mla",
      }),
      "backend_unsupported",
    ],
    [
      KIMI,
      {
        speculative_algorithm: "DSPARK",
        speculative_attention_mode: "decode",
        prefill_attention_backend: "flashinfer",
        decode_attention_backend: "cutedsl_mla",
      },
      "backend_unsupported",
    ],
  ])("context ranks 2, %o with %o: %s", (model, features, expected) => {
    expect(answer(model, features, { dcp_size: 2 })).toBe(expected);
  });
});

describe("the checkpoint grid", () => {
  const tracked = { prefix_sharing: true, checkpoint: { strategy: "extra_buffer", interval: 24 } };
  test.each([
    // lcm(16, 24) = 48
    [INKLING, tracked, 47, "chunk_below_grid"],
    [INKLING, tracked, 48, "served"],
    [INKLING, { ...tracked, prefix_sharing: false }, 1, "served"],
    [INKLING, { ...tracked, checkpoint: { strategy: "no_buffer" } }, 1, "served"],
    [GATED, tracked, 1, "served"],
    [GPT_OSS, tracked, 1, "served"],
    // without an interval the grid is lcm(16, 256)
    [
      INKLING,
      { ...tracked, checkpoint: { strategy: "extra_buffer_lazy" } },
      255,
      "chunk_below_grid",
    ],
    [INKLING, { ...tracked, checkpoint: { strategy: "extra_buffer_lazy" } }, 256, "served"],
  ])("%o %o, chunks of %i: %s", (model, extra, chunk, expected) => {
    expect(answer(model, {}, { ...extra, chunked_prefill_size: chunk })).toBe(expected);
  });
});

describe("notices", () => {
  test.each([
    [{}, ["page_major_implied"]],
    [{ enable_page_major_kv_layout: true }, []],
    [{ enable_priority_scheduling: true }, ["priority_preemption_off", "page_major_implied"]],
    [
      { enable_priority_scheduling: true, disable_priority_preemption: true },
      ["page_major_implied"],
    ],
    [
      { enable_hierarchical_cache: true, hicache_mem_layout: "page_first_direct" },
      ["host_layout_switched", "page_major_implied"],
    ],
    [
      { cuda_graph_backend_prefill: "full", attention_backend: "triton" },
      ["prefill_graph_disabled", "page_major_implied"],
    ],
    [{ cuda_graph_backend_prefill: "full", attention_backend: "fa3" }, ["page_major_implied"]],
    [
      { cuda_graph_backend_prefill: "breakable", attention_backend: "triton" },
      ["page_major_implied"],
    ],
  ])("%o", (features, expected) => {
    expect(noticesOf(GPT_OSS, features)).toEqual(expected);
    expect(expected.every((notice) => (NOTICES as readonly string[]).includes(notice))).toBe(true);
  });
});

test("an unknown feature, or one of the wrong type, is an error with its place", () => {
  expect(() => answer(GPT_OSS, { enable_lmcach: true })).toThrow(/did you mean "enable_lmcache"/);
  expect(() => answer(GPT_OSS, { enable_lmcache: 1 })).toThrow(/\/features\/enable_lmcache/);
  expect(() => answer(LATENT_STATE, { tp_size: 0 })).toThrow(/\/features\/tp_size/);
  expect(answer(GPT_OSS, { x_note: "ignored" })).toBe("served");
  expect(new Set(FEATURE_KEYS.map((row) => row.key)).size).toBe(FEATURE_KEYS.length);
});
