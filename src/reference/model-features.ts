// What else runs beside unified memory: what is refused, what is changed with a notice (unified-memory-guide.md).
import {
  attentionBackends,
  checkBackends,
  checkContextParallelBackends,
} from "./model-backends.js";
import { canonicalJson } from "../base/canonical-json.js";
import { type Fields, notSupported } from "./model-fields.js";
import type { Model } from "./model-layers.js";
import { type PlannedPool, refusePlan } from "./model-plan.js";

/** The flags that are known. @internal */
export const FEATURE_KEYS = [
  ...["enable_unified_memory", "enable_war_barrier", "platform", "enable_page_major_kv_layout"],
  ...["attention_backend", "prefill_attention_backend", "decode_attention_backend"],
  ...["linear_attn_backend", "linear_attn_prefill_backend", "linear_attn_decode_backend"],
  ...["mamba_backend", "cuda_graph_backend_prefill", "enable_prefill_aware_swa"],
  ...["kv_cache_dtype", "mamba_ssm_dtype", "mamba_conv_dtype", "cp_kv_layout"],
  ...["tp_size", "dp_size", "pp_size", "enable_dp_attention"],
  ...["disable_lazy_compaction", "post_capture_kv_sizing", "radix_eviction_policy"],
  ...["enable_priority_scheduling", "disable_priority_preemption"],
  ...["enable_hierarchical_cache", "hicache_mem_layout", "hicache_io_backend"],
  ...["hicache_host_memory_mode", "hicache_storage_backend"],
  ...["disaggregation_mode", "disaggregation_transfer_backend"],
  ...["disaggregation_decode_enable_offload_kvcache", "disaggregation_decode_retraction_backup"],
  ...["disagg_staging_buffer", "enable_hisparse", "peer"],
  ...["speculative_algorithm", "speculative_eagle_topk", "speculative_attention_mode"],
  ...["enable_streaming_session", "enable_session_radix_cache", "enable_two_batch_overlap"],
  ...["enable_lmcache", "enable_unified_cache_external_linker", "enable_kv_cache_sharding"],
  ...["enable_int8_mamba_checkpoint", "enable_prefill_weight_versions"],
];

const PLATFORMS = ["cuda", "rocm", "xpu", "npu", "musa", "cpu"]; // mps and mlx have no device streams
const ALGORITHMS = ["EAGLE", "EAGLE3", "DFLASH", "DSPARK"];
const REFUSED_FLAGS = [
  "enable_two_batch_overlap",
  "enable_lmcache",
  "enable_unified_cache_external_linker",
  "enable_kv_cache_sharding",
  "enable_int8_mamba_checkpoint",
  "enable_prefill_weight_versions",
];

/** The run that features are checked against. @internal */
export interface FeatureContext {
  readonly features: Fields;
  readonly target: Model;
  readonly draft: Model | null;
  readonly pools: readonly PlannedPool[];
  readonly pageSize: number; // tokens, before decode context parallelism
  readonly contextRanks: number; // decode context parallelism
  readonly attentionRanks: number;
  readonly model: unknown; // as configured
  readonly requests: number | null; // the limit as configured
  readonly primaryWindow: string | null;
}

/** Attention TP: data-parallel attention divides the ranks. @internal */
export function attentionRanks(features: Fields): number {
  const ranks = features.wholeOr("tp_size", 1);
  const groups = features.flag("enable_dp_attention") ? features.wholeOr("dp_size", 1) : 1;
  return ranks % groups === 0
    ? ranks / groups
    : notSupported("groups that do not divide the ranks");
}

/** Refuses with `feature_conflict`, `eager_compaction`, `peer_mismatch` or `backend_unsupported`. @internal */
export function checkFeatures(context: FeatureContext): void {
  const { features, draft } = context;
  const algorithm = algorithmOf(features, draft);
  checkContextParallel(context);
  checkPrimaryWindow(context);
  if (features.flag("disable_lazy_compaction")) refusePlan("eager_compaction");
  checkBackends(features, context.target, draft);
  if (features.raw("enable_unified_memory") === false) conflict();
  const platform = features.textOr("platform", "cuda");
  if (!PLATFORMS.includes(platform)) conflict();
  if (features.flag("post_capture_kv_sizing") && platform !== "cuda") conflict();
  if (REFUSED_FLAGS.some((flag) => features.flag(flag))) conflict();
  if (["nvfp4", "fp4_mx_block16"].includes(features.textOr("kv_cache_dtype", ""))) conflict();
  if (features.textOr("cp_kv_layout", "") === "sharded") conflict();
  checkSpeculation(features, algorithm);
  checkHostCache(features, algorithm);
  checkPipeline(features);
  checkTransfers(context, algorithm);
  if (context.contextRanks > 1) checkContextParallelBackends(features, algorithm);
  if (features.has("peer")) checkPeer(context);
  if (context.requests === 0) conflict();
}

/** What a feature changed or switched off, one rule each. @internal */
export function noticesOf(features: Fields): string[] {
  const notices: string[] = [];
  if (features.flag("enable_priority_scheduling") && !features.flag("disable_priority_preemption"))
    notices.push("priority_preemption_off");
  if (
    features.flag("enable_hierarchical_cache") &&
    features.textOr("hicache_mem_layout", "") === "page_first_direct"
  )
    notices.push("host_layout_switched");
  const { prefill, decode } = attentionBackends(features);
  const hasOther = [prefill, decode].some(
    (name) => name !== null && !["fa3", "fa4"].includes(name),
  );
  if (features.textOr("cuda_graph_backend_prefill", "") === "full" && hasOther)
    notices.push("prefill_graph_disabled");
  if (!features.flag("enable_page_major_kv_layout")) notices.push("page_major_implied");
  return notices;
}

// A draft without a named algorithm counts as EAGLE (decision 22); NEXTN resolves to EAGLE.
function algorithmOf(features: Fields, draft: Model | null): string | null {
  const named = features.textOr("speculative_algorithm", draft === null ? null : "EAGLE");
  const algorithm = named?.toUpperCase() ?? null;
  return algorithm === "NEXTN" ? "EAGLE" : algorithm;
}

function checkSpeculation(features: Fields, algorithm: string | null): void {
  if (algorithm === null) return;
  if (!ALGORITHMS.includes(algorithm)) conflict();
  if (features.wholeOr("speculative_eagle_topk", 1) > 1) conflict();
}

function checkHostCache(features: Fields, algorithm: string | null): void {
  if (!features.flag("enable_hierarchical_cache")) return;
  if (algorithm === "EAGLE" || algorithm === "EAGLE3") conflict();
  const mode = features.textOr("hicache_host_memory_mode", "");
  if (mode === "buffer_only" && isPipelined(features)) conflict();
}

function checkPipeline(features: Fields): void {
  if (!isPipelined(features)) return;
  if (features.flag("enable_streaming_session")) conflict();
  if (features.flag("enable_session_radix_cache")) conflict();
}

function checkContextParallel(context: FeatureContext): void {
  const { contextRanks, pools } = context;
  if (contextRanks <= 1) return;
  const full = pools.find(({ name }) => name === "full");
  if (full === undefined || full.kind !== "mla" || full.unitBytes % contextRanks > 0)
    refusePlan("feature_conflict", "full");
}

function checkPrimaryWindow({ pools, primaryWindow }: FeatureContext): void {
  const windows = pools.filter(({ window }) => window !== undefined);
  if (primaryWindow !== null && !windows.some(({ name }) => name === primaryWindow)) conflict();
}

function checkTransfers(context: FeatureContext, algorithm: string | null): void {
  const { features, pools } = context;
  const hasState = pools.some(({ kind }) => kind === "state");
  if (features.flag("disaggregation_decode_enable_offload_kvcache")) {
    if (features.textOr("hicache_storage_backend", "") !== "file") conflict();
    conflict(); // every plan has latent rows, windows or states
  }
  const backup = features.textOr("disaggregation_decode_retraction_backup", "");
  if (backup === "host_pool" && hasState) conflict();
  const mode = features.textOr("disaggregation_mode", "null");
  if (mode !== "null") {
    if (features.textOr("disaggregation_transfer_backend", "mooncake") !== "mooncake") conflict();
    if (isPipelined(features) || algorithm !== null || context.contextRanks > 1) conflict();
    if (features.flag("disagg_staging_buffer") || features.flag("enable_hisparse")) conflict();
  }
}

const PEER_KEYS = ["enable_unified_memory", "attn_tp_size", "page_size", "model"];

function checkPeer(context: FeatureContext): void {
  const peer = context.features.child("peer", PEER_KEYS);
  const isSame =
    peer.raw("enable_unified_memory") !== false &&
    peer.wholeOr("attn_tp_size", context.attentionRanks) === context.attentionRanks &&
    peer.wholeOr("page_size", context.pageSize) === context.pageSize &&
    (!peer.has("model") || canonicalJson(peer.raw("model")) === canonicalJson(context.model));
  if (!isSame) refusePlan("peer_mismatch");
}

function isPipelined(features: Fields): boolean {
  return features.wholeOr("pp_size", 1) > 1;
}

function conflict(): never {
  refusePlan("feature_conflict");
}
