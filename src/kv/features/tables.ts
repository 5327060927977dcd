// The user guide's tables as data: which backends serve which layers, which flags exist, what is refused outright.

/** Layers that a backend table speaks of. @public */
export type BackendLayers =
  "mha" | "mha_asymmetric" | "mla" | "linear_decode" | "linear_prefill" | "mamba";

/** Page-major allow-lists: the backends audited for strided views. @public */
export const BACKEND_TABLE: Readonly<Record<BackendLayers, readonly string[]>> = {
  mha: ["triton", "fa3", "fa4", "flashinfer", "trtllm_mha"],
  mha_asymmetric: ["triton", "fa3", "fa4"],
  mla: ["triton", "fa3", "trtllm_mla", "flashinfer", "cutedsl_mla", "flashmla"],
  linear_decode: ["triton", "flashinfer"],
  linear_prefill: ["triton", "flashkda", "flashinfer"],
  mamba: ["triton"],
};
/** Linear-attention backends that latent-attention (KDA) hybrids may use beside the table. @public */
export const LINEAR_BACKENDS_ON_MLA: readonly string[] = ["cutedsl", "helion"];
/** Backends that serve several window sub-pools in one runner. @public */
export const MULTI_WINDOW_BACKENDS: readonly string[] = ["triton"];
/** Backends that refuse local attention and prefill-aware windows when they are built. @public */
export const FLASH_BACKENDS: readonly string[] = ["fa3", "fa4"];
/** Backends with which a prefill graph of the whole forward stays on. @public */
export const FULL_GRAPH_BACKENDS: readonly string[] = ["fa3", "fa4"];
/** Backends of decode context parallelism, and the one that verifies speculation under it. @public */
export const CONTEXT_PARALLEL_BACKENDS: readonly string[] = [
  "flashinfer",
  "trtllm_mla",
  "cutedsl_mla",
];
/** @public */
export const CONTEXT_PARALLEL_VERIFY_BACKEND = "cutedsl_mla";
/** Speculative algorithms by name; NEXTN is EAGLE. @public */
export const SPECULATIVE_ALGORITHMS: readonly string[] = [
  "EAGLE",
  "EAGLE3",
  "NEXTN",
  "DFLASH",
  "DSPARK",
];
/** Platforms with device streams; others in the tree have none. @public */
export const PLATFORMS: readonly string[] = ["cuda", "rocm", "xpu", "npu", "musa", "cpu"];
/** @public */
export const PLATFORMS_WITHOUT_STREAMS: readonly string[] = ["mps", "mlx"];
/** KV element types that no page-major entry stores. @public */
export const REFUSED_KV_TYPES: readonly string[] = ["nvfp4", "fp4_mx_block16"];

/** Flags that are refused when they are on. @public */
export const REFUSED_FLAGS: readonly (readonly [key: string, reason: string])[] = [
  ["enable_two_batch_overlap", "two-batch overlap is refused"],
  ["enable_lmcache", "an external cache layer is refused"],
  ["enable_unified_cache_external_linker", "an external linker of the cache is refused"],
  ["enable_kv_cache_sharding", "a sharded KV cache is refused"],
  ["enable_int8_mamba_checkpoint", "checkpoints in int8 are refused"],
  ["enable_prefill_weight_versions", "prefill weight versions are refused"],
];

/** Model families of the guide's table of supported models. @public */
export const SUPPORTED_FAMILIES: readonly {
  readonly family: string;
  readonly isServed: boolean;
  readonly rule: string | null; // of the refusal
}[] = [
  { family: "sliding-window attention with MHA full attention", isServed: true, rule: null },
  { family: "Mamba or linear attention, MLA full attention included", isServed: true, rule: null },
  { family: "sliding window and recurrent state together", isServed: true, rule: null },
  { family: "full attention only, MHA or MLA", isServed: false, rule: "full_only" },
  { family: "MLA full attention with windows", isServed: false, rule: "mla_with_window" },
  { family: "DeepSeek-V4", isServed: false, rule: "model_unsupported" },
  {
    family: "Qwen4-Exp, Kimi-K3.1, Unlimited-OCR v2, MiniCPM with sparse attention",
    isServed: false,
    rule: "model_unsupported",
  },
];

/** A key of `features`: the flag or variable it stands for, and its type. @public */
export interface FeatureKey {
  readonly key: string;
  readonly flag: string;
  readonly type: "boolean" | "integer" | "text" | "object";
}

const key = (name: string, type: FeatureKey["type"], flag?: string): FeatureKey => ({
  key: name,
  type,
  flag: flag ?? `--${name.replaceAll("_", "-")}`,
});

/** Every key of `features`. @public */
export const FEATURE_KEYS: readonly FeatureKey[] = [
  key("enable_unified_memory", "boolean"),
  key("enable_war_barrier", "boolean", "SGLANG_ENABLE_WAR_BARRIER"),
  key("platform", "text", "the platform"),
  key("enable_page_major_kv_layout", "boolean"),
  key("attention_backend", "text"),
  key("prefill_attention_backend", "text"),
  key("decode_attention_backend", "text"),
  key("linear_attn_backend", "text"),
  key("linear_attn_prefill_backend", "text"),
  key("linear_attn_decode_backend", "text"),
  key("mamba_backend", "text"),
  key("cuda_graph_backend_prefill", "text"),
  key("enable_prefill_aware_swa", "boolean", "models that decode with prefill-aware SWA"),
  key("kv_cache_dtype", "text"),
  key("mamba_ssm_dtype", "text"),
  key("mamba_conv_dtype", "text", "SGLANG_MAMBA_CONV_DTYPE"),
  key("cp_kv_layout", "text"),
  key("tp_size", "integer"),
  key("dp_size", "integer"),
  key("pp_size", "integer"),
  key("enable_dp_attention", "boolean"),
  key("disable_lazy_compaction", "boolean", "SGLANG_DISABLE_LAZY_COMPACTION"),
  key("post_capture_kv_sizing", "boolean", "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING"),
  key("radix_eviction_policy", "text"),
  key("enable_priority_scheduling", "boolean"),
  key("disable_priority_preemption", "boolean"),
  key("enable_hierarchical_cache", "boolean"),
  key("hicache_mem_layout", "text"),
  key("hicache_io_backend", "text"),
  key("hicache_host_memory_mode", "text"),
  key("hicache_storage_backend", "text"),
  key("disaggregation_mode", "text"),
  key("disaggregation_transfer_backend", "text"),
  key("disaggregation_decode_enable_offload_kvcache", "boolean"),
  key("disaggregation_decode_retraction_backup", "text"),
  key("disagg_staging_buffer", "boolean", "SGLANG_DISAGG_STAGING_BUFFER"),
  key("enable_hisparse", "boolean"),
  key("peer", "object", "the other side of a prefill/decode pair"),
  key("speculative_algorithm", "text"),
  key("speculative_eagle_topk", "integer"),
  key("speculative_attention_mode", "text"),
  key("enable_streaming_session", "boolean"),
  key("enable_session_radix_cache", "boolean"),
  ...REFUSED_FLAGS.map(([name]) => key(name, "boolean")),
];

/** Names of notices: what a feature changed or switched off. @public */
export const NOTICES = [
  "priority_preemption_off",
  "host_layout_switched",
  "prefill_graph_disabled",
  "page_major_implied",
] as const;
/** @public */
export type Notice = (typeof NOTICES)[number];
