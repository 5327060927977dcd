// Rules about features that exclude one another or need something of the model.
import { canonicalJson } from "../../base/canonical-json.js";
import type { PlanRefusal } from "../plan/refusals.js";
import { planRefused } from "../plan/refusals.js";
import { attentionBackendsOf } from "./backends.js";
import type { FeatureContext, FeatureRule } from "./context.js";
import { hasState, hasWindow, isLatent } from "./context.js";
import {
  CONTEXT_PARALLEL_BACKENDS,
  CONTEXT_PARALLEL_VERIFY_BACKEND,
  PLATFORMS,
  PLATFORMS_WITHOUT_STREAMS,
  REFUSED_FLAGS,
  REFUSED_KV_TYPES,
  SPECULATIVE_ALGORITHMS,
} from "./tables.js";

/** In the order in which they answer. @internal */
export const INTERACTION_RULES: readonly FeatureRule[] = [
  unified,
  platform,
  refusedFlags,
  kvTypes,
  speculation,
  hierarchicalCache,
  disaggregation,
  decodeOffload,
  pipeline,
  contextParallel,
  peer,
];

const conflict = (reason: string): PlanRefusal => planRefused("feature_conflict", reason);

function unified({ features }: FeatureContext): PlanRefusal | null {
  return features.isOff("enable_unified_memory")
    ? conflict("enable_unified_memory is off: then there is no arena to plan")
    : null;
}

function platform({ features }: FeatureContext): PlanRefusal | null {
  const name = features.word("platform") ?? "cuda";
  if (PLATFORMS_WITHOUT_STREAMS.includes(name))
    return conflict(`platform ${name} has no device streams to order the scheduler's writes with`);
  if (!PLATFORMS.includes(name))
    return conflict(`platform ${name} is out of tree (known: ${PLATFORMS.join(", ")})`);
  if (features.isOn("post_capture_kv_sizing") && name !== "cuda")
    return conflict(`growing the backing after capture needs CUDA, not ${name}`);
  return null;
}

function refusedFlags({ features }: FeatureContext): PlanRefusal | null {
  const found = REFUSED_FLAGS.find(([key]) => features.isOn(key));
  return found === undefined ? null : conflict(`${found[0]}: ${found[1]}`);
}

function kvTypes({ features }: FeatureContext): PlanRefusal | null {
  const type = features.word("kv_cache_dtype");
  if (type !== undefined && REFUSED_KV_TYPES.includes(type))
    return conflict(`kv_cache_dtype ${type}: an FP4 KV cache is refused`);
  const layout = features.word("cp_kv_layout");
  if (layout?.startsWith("sharded") === true)
    return conflict(`cp_kv_layout ${layout} keeps each rank's KV sharded and padded`);
  return null;
}

function speculation({ features }: FeatureContext): PlanRefusal | null {
  const { algorithm } = features;
  if (algorithm === null) return null;
  if (!SPECULATIVE_ALGORITHMS.includes(algorithm))
    return conflict(
      `speculative_algorithm ${algorithm} is refused (served: ${SPECULATIVE_ALGORITHMS.join(", ")})`,
    );
  const width = features.count("speculative_eagle_topk", 1);
  return width === 1
    ? null
    : conflict(`speculative_eagle_topk ${width}: a linear draft chain only, unset or 1`);
}

function hierarchicalCache({ features }: FeatureContext): PlanRefusal | null {
  if (!features.isOn("enable_hierarchical_cache")) return null;
  const { algorithm } = features;
  if (algorithm === "EAGLE" || algorithm === "EAGLE3")
    return conflict(`enable_hierarchical_cache together with ${algorithm} is refused`);
  const isBufferOnly = features.word("hicache_host_memory_mode") === "buffer_only";
  if (isBufferOnly && features.count("pp_size", 1) > 1)
    return conflict(
      "hicache_host_memory_mode buffer_only with pp_size above 1: stages drain their own backups, so their decisions could differ",
    );
  return null;
}

function disaggregation({ features, plan }: FeatureContext): PlanRefusal | null {
  if (!features.isDisaggregated) return null;
  const transfer = features.word("disaggregation_transfer_backend") ?? "mooncake";
  if (transfer !== "mooncake")
    return conflict(`disaggregation_transfer_backend ${transfer}: only mooncake is served`);
  const together: readonly (readonly [boolean, string])[] = [
    [features.count("pp_size", 1) > 1, "pp_size above 1"],
    [features.algorithm !== null, "speculative decoding"],
    [features.isOn("disagg_staging_buffer"), "the staging buffer of heterogeneous ranks"],
    [features.isOn("enable_hisparse"), "enable_hisparse"],
    [plan.contextRanks > 1, "dcp_size above 1"],
  ];
  const found = together.find(([isSet]) => isSet);
  return found === undefined
    ? null
    : conflict(`disaggregation together with ${found[1]} is refused`);
}

function decodeOffload(context: FeatureContext): PlanRefusal | null {
  const { features } = context;
  if (features.isOn("disaggregation_decode_enable_offload_kvcache")) {
    const storage = features.word("hicache_storage_backend");
    if (storage !== "file")
      return conflict(
        `decode KV offload needs hicache_storage_backend file, not ${storage ?? "none"}`,
      );
    if (isLatent(context) || hasState(context) || hasWindow(context))
      return conflict("decode KV offload does not support MLA, Mamba or sliding-window models");
  }
  const backup = features.word("disaggregation_decode_retraction_backup");
  if (backup === "host_pool" && hasState(context))
    return conflict("disaggregation_decode_retraction_backup host_pool does not support state");
  return null;
}

function pipeline({ features }: FeatureContext): PlanRefusal | null {
  if (features.count("pp_size", 1) <= 1) return null;
  for (const key of ["enable_streaming_session", "enable_session_radix_cache"])
    if (features.isOn(key))
      return conflict(
        `${key} with pp_size above 1: each stage closes sessions on its own clock, so what they hold could differ`,
      );
  return null;
}

// A plan over several ranks has latent rows and therefore no windows: others were refused when it was made.
function contextParallel(context: FeatureContext): PlanRefusal | null {
  const { features, plan } = context;
  if (plan.contextRanks === 1) return null;
  const what = `dcp_size ${plan.contextRanks}`;
  const named = attentionBackendsOf(context);
  const other = named.find((backend) => !CONTEXT_PARALLEL_BACKENDS.includes(backend));
  if (other !== undefined)
    return planRefused(
      "backend_unsupported",
      `${what}: ${other} is none of ${CONTEXT_PARALLEL_BACKENDS.join(", ")}`,
    );
  const { algorithm } = features;
  if (algorithm === null) return null;
  if ((algorithm === "DSPARK" || algorithm === "DFLASH") && named.includes("flashinfer"))
    return planRefused("backend_unsupported", `${what} with ${algorithm}: flashinfer is refused`);
  const verifies =
    features.word("speculative_attention_mode") === "decode"
      ? features.decodeBackend
      : features.prefillBackend;
  return verifies === undefined || verifies === CONTEXT_PARALLEL_VERIFY_BACKEND
    ? null
    : planRefused(
        "backend_unsupported",
        `${what} with ${algorithm}: target verification runs on ${verifies}, it must be ${CONTEXT_PARALLEL_VERIFY_BACKEND}`,
      );
}

// Prefill and decode must agree, with or without the staging buffer.
function peer({ features, pageTokens, model }: FeatureContext): PlanRefusal | null {
  const other = features.peer;
  if (other === null) return null;
  const differs = (what: string, own: unknown, theirs: unknown): PlanRefusal | null =>
    theirs === undefined || canonicalJson(own) === canonicalJson(theirs)
      ? null
      : planRefused(
          "peer_mismatch",
          `the peer's ${what} is ${canonicalJson(theirs).slice(0, 80)}, this side's ${canonicalJson(own).slice(0, 80)}`,
        );
  if (!other.isUnified)
    return planRefused("peer_mismatch", "the peer does not enable unified memory");
  return (
    differs("attention TP size", features.attentionRanks, other.attentionRanks) ??
    differs("page size", pageTokens, other.pageTokens) ??
    differs("model", model, other.model)
  );
}
