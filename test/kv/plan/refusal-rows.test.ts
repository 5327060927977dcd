// The rows of the pages that refuse a plan, a size or a start-up, each with the scenario that is refused for it and the
// words by which the refusal names it. test/kv/plan/refusal-scenarios.test.ts reads the places from the source; this
// list is read from the pages, so that a row without a place is missed as well.
import { expect, test } from "vitest";
import { fileURLToPath } from "node:url";
import { KVStorage } from "../../../src/kv/storage.js";
import { loadScenarios } from "../../../src/workload/scenario.js";

const SCENARIOS = loadScenarios([fileURLToPath(new URL("../../../scenarios", import.meta.url))]);

type Row = readonly [row: string, scenario: string, rule: string, words: RegExp];

const PLAN: readonly Row[] = [
  ["no full-attention owner", "plan_without_full_attention", "no_full_owner", /full/],
  ["two shapes in one sub-pool", "plan_two_row_shapes", "two_geometries", /shapes/],
  ["two element types", "plan_two_element_types", "two_geometries", /element types/],
  ["two allocation units", "plan_two_allocation_units", "two_geometries", /pages of 8 tokens/],
  ["two kinds of row", "plan_two_kinds_of_row", "two_geometries", /kind of row/],
  ["full attention only, MHA", "plan_full_attention_only", "full_only", /MHA/],
  ["full attention only, MLA", "plan_latent_attention_only", "full_only", /MLA/],
  ["MLA with windows", "plan_latent_with_window", "mla_with_window", /window/],
  ["a recurrent draft, no state", "plan_draft_without_state_band", "draft_needs_state", /no state/],
  ["and no policy", "plan_draft_without_checkpoints", "draft_needs_state", /checkpoint policy/],
  ["DeepSeek-V4", "plan_model_refused_by_name", "model_unsupported", /DeepSeek-V4/],
  ["Qwen4-Exp", "plan_model_qwen4_exp", "model_unsupported", /Qwen4-Exp/],
  ["Kimi-K3.1", "plan_model_kimi_k3", "model_unsupported", /Kimi-K3\.1/],
  ["Unlimited-OCR v2", "plan_model_unlimited_ocr", "model_unsupported", /Unlimited-OCR v2/],
  ["sparse MiniCPM", "plan_model_sparse_minicpm", "model_unsupported", /MiniCPM/],
];
const SIZE: readonly Row[] = [
  ["no page beyond the sink", "grid_without_usable_page", "no_usable_page", /page/],
  ["row ids beyond 2^31", "kernel_ids_beyond_31_bits", "kernel_id_space", /id/],
  ["a row between elements", "view_between_elements", "misaligned_view", /./],
  ["no concurrency", "size_for_no_request", "feature_conflict", /max_running_requests/],
];
const BACKENDS: readonly Row[] = [
  ["MHA", "backend_not_audited", "backend_unsupported", /torch_native.*MHA full and sliding/],
  ["each phase", "backend_for_decode_only", "backend_unsupported", /flashmla/],
  ["asymmetric rows", "backend_asymmetric_rows", "backend_unsupported", /flashinfer.*asymmetric/],
  ["MLA", "backend_latent_rows", "backend_unsupported", /fa4.*MLA/],
  ["linear, decode", "backend_linear_decode", "backend_unsupported", /flashkda.*decode/],
  ["linear, prefill", "backend_linear_prefill", "backend_unsupported", /ptx_kda.*prefill/],
  ["KDA hybrids", "backend_latent_hybrids_only", "backend_unsupported", /cutedsl.*linear/],
  ["Mamba", "backend_of_mamba", "backend_unsupported", /flashinfer.*Mamba/],
  ["local attention", "backend_local_attention", "backend_unsupported", /fa4.*local attention/],
  ["prefill-aware", "backend_prefill_aware_windows", "backend_unsupported", /fa3.*prefill-aware/],
  ["several windows", "backend_with_two_windows", "backend_unsupported", /flashinfer.*has 2/],
];
const FLAGS: readonly Row[] = (
  [
    ["--enable-two-batch-overlap", "feature_two_batch_overlap", /enable_two_batch_overlap/],
    ["--enable-lmcache", "feature_external_cache", /enable_lmcache/],
    ["--enable-unified-cache-external-linker", "feature_external_linker", /external_linker/],
    ["--enable-kv-cache-sharding", "feature_sharded_cache", /enable_kv_cache_sharding/],
    ["--enable-int8-mamba-checkpoint", "feature_int8_checkpoints", /int8_mamba_checkpoint/],
    ["--enable-prefill-weight-versions", "feature_weight_versions", /prefill_weight_versions/],
    ["nvfp4", "feature_fp4_cache", /nvfp4/],
    ["fp4_mx_block16", "feature_fp4_blocks", /fp4_mx_block16/],
    ["--cp-kv-layout", "feature_sharded_layout", /cp_kv_layout/],
    ["out-of-tree platforms", "feature_platform_out_of_tree", /tpu.*out of tree/],
    ["MPS", "feature_platform_without_streams", /mps.*streams/],
    ["MLX", "feature_platform_mlx", /mlx.*streams/],
    ["post-capture sizing, CUDA only", "feature_growth_needs_cuda", /CUDA/],
    ["no arena without the flag", "feature_unified_memory_off", /enable_unified_memory/],
    ["a primary window that is none", "feature_absent_primary_window", /window_9/],
  ] as const
).map(([row, scenario, words]) => [row, scenario, "feature_conflict", words]);
const FEATURES: readonly Row[] = (
  [
    ["host cache with EAGLE3", "feature_host_cache_with_eagle", /hierarchical_cache.*EAGLE3/],
    ["host cache with a fused draft", "feature_host_cache_with_draft", /hierarchical_cache.*EAGLE/],
    ["buffer_only in a pipeline", "feature_buffer_only_pipeline", /buffer_only.*pp_size/],
    ["another transfer backend", "feature_transfer_backend", /nixl.*mooncake/],
    ["a transfer in a pipeline", "feature_transfer_with_pipeline", /disaggregation.*pp_size/],
    ["a transfer with speculation", "feature_transfer_with_speculation", /disaggr.*speculative/],
    ["a staging buffer", "feature_transfer_with_staging", /disaggregation.*staging/],
    ["--enable-hisparse", "feature_transfer_with_sparse_rows", /disaggregation.*hisparse/],
    ["a transfer with dcp", "feature_transfer_with_context_parallel", /disaggregation.*dcp_size/],
    ["offload storage", "feature_offload_storage", /hicache_storage_backend file/],
    ["offload of windows", "feature_offload_of_windows", /offload.*sliding-window/],
    ["offload of state", "feature_offload_of_states", /offload.*Mamba/],
    ["offload of MLA", "feature_offload_of_latent_rows", /offload.*MLA/],
    ["retraction backup of state", "feature_state_in_host_retraction", /host_pool.*state/],
    ["another algorithm", "feature_unknown_speculation", /LOOKAHEAD/],
    ["frozen-KV MTP", "feature_assistant_draft", /FROZEN_KV_MTP/],
    ["topk above 1", "feature_wide_draft_tree", /topk 4/],
    ["streaming sessions", "feature_sessions_with_pipeline", /streaming_session.*pp_size/],
    ["session tree", "feature_session_tree_with_pipeline", /session_radix_cache.*pp_size/],
    ["dcp without MLA", "feature_context_parallel_rows", /dcp_size 2.*latent/],
    ["dcp with windows", "feature_context_parallel_windows", /dcp_size 2.*latent/],
    ["dcp that cuts a token", "feature_context_parallel_share", /dcp_size 3.*divide/],
  ] as const
).map(([row, scenario, words]) => [row, scenario, "feature_conflict", words]);
const OTHERS: readonly Row[] = [
  ["dcp backends", "backend_context_parallel", "backend_unsupported", /triton/],
  ["dcp verify", "backend_context_parallel_verify", "backend_unsupported", /runs on trtllm_mla/],
  [
    "dcp verify by decode",
    "backend_context_parallel_decode_verifies",
    "backend_unsupported",
    /runs on trtllm_mla/,
  ],
  ["dcp draft", "backend_context_parallel_draft", "backend_unsupported", /DFLASH.*flashinfer/],
  ["both sides unified", "peer_without_unified_memory", "peer_mismatch", /unified memory/],
  ["the same TP size", "peer_of_another_width", "peer_mismatch", /TP size/],
  ["the same page size", "peer_of_another_page_size", "peer_mismatch", /page size/],
  ["the same model", "peer_of_another_model", "peer_mismatch", /model/],
  ["lazy compaction", "feature_eager_compaction", "eager_compaction", /lazily/],
  ["a chunk below the grid", "chunk_below_grid_at_boot", "chunk_below_grid", /6.*8 tokens/],
];

const ROWS = [PLAN, SIZE, BACKENDS, FLAGS, FEATURES, OTHERS].flat();

test.each(ROWS)("%s: %s is refused as %s", (_, name, rule, words) => {
  const scenario = SCENARIOS.find((one) => one.name === name);
  expect(scenario?.ops[0]?.expect?.err).toMatchObject({ code: "refused_plan", rule });
  const storage = new KVStorage(scenario!.configs[0]![1], { digestDepth: null });
  const { err } = storage.apply({ op: "boot", args: {} });
  expect(err).toMatchObject({ code: "refused_plan", rule });
  expect(err?.message).toMatch(words);
});

test("each scenario of the model form that is refused a plan stands for one row", () => {
  const refused = SCENARIOS.filter(
    ({ configs, ops }) =>
      configs.every(([, config]) => "model" in config) &&
      (ops[0]?.expect?.err as { code?: string } | undefined)?.code === "refused_plan",
  );
  // The one row beside the pages: a model of fields that no reader knows.
  const rest = refused.filter(({ name }) => ROWS.every(([, scenario]) => scenario !== name));
  expect(rest.map(({ name }) => name)).toEqual(["plan_model_keeps_unknown_state"]);
  expect(new Set(ROWS.map(([, scenario]) => scenario)).size).toBe(ROWS.length);
});
