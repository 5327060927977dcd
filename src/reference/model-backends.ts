// Which attention and state kernels read strided rows (unified-memory-guide.md, the page-major allow-list).
import type { Fields } from "./model-fields.js";
import type { Model } from "./model-layers.js";
import { refusePlan, windowsOf } from "./model-plan.js";

const MHA = ["triton", "fa3", "fa4", "flashinfer", "trtllm_mha"];
const MHA_ASYMMETRIC = ["triton", "fa3", "fa4"];
const MLA = ["triton", "fa3", "trtllm_mla", "flashinfer", "cutedsl_mla", "flashmla"];
const LINEAR_DECODE = ["triton", "flashinfer"];
const LINEAR_PREFILL = ["triton", "flashkda", "flashinfer"];
const LINEAR_WITH_MLA = ["cutedsl", "helion"]; // on both lists above
const MAMBA = ["triton"];
const CONTEXT_PARALLEL = ["flashinfer", "trtllm_mla", "cutedsl_mla"];

/** Attention backends by phase; null: the default, which suits. @internal */
export interface AttentionBackends {
  readonly prefill: string | null;
  readonly decode: string | null;
}

/** @internal */
export function attentionBackends(features: Fields): AttentionBackends {
  const both = features.textOr("attention_backend", null);
  return {
    prefill: features.textOr("prefill_attention_backend", both),
    decode: features.textOr("decode_attention_backend", both),
  };
}

/** Refuses with `backend_unsupported`. @internal */
export function checkBackends(features: Fields, target: Model, draft: Model | null): void {
  const { prefill, decode } = attentionBackends(features);
  const layers = [...target.layers, ...(draft?.layers ?? [])];
  const rows = layers.flatMap(({ attention }) => (attention === null ? [] : [attention]));
  const hasMla = rows.some(({ kind }) => kind === "mla");
  const isAsymmetric = rows.some((row) => row.kind === "mha" && row.keyDim !== row.valueDim);
  for (const backend of [prefill, decode]) {
    if (rows.some(({ kind }) => kind === "mha")) onList(backend, MHA);
    if (isAsymmetric) onList(backend, MHA_ASYMMETRIC);
    if (hasMla) onList(backend, MLA);
    if (backend === "fa3" || backend === "fa4") {
      if (target.hasLocalAttention) refusePlan("backend_unsupported");
      if (features.flag("enable_prefill_aware_swa")) refusePlan("backend_unsupported");
    }
    for (const runner of [target, draft]) {
      const windows = windowsOf(runner?.layers ?? []);
      if (windows.length > 1) onList(backend, ["triton"]);
    }
  }
  const mixers = new Set(layers.map(({ state }) => state?.mixer));
  if (mixers.has("linear")) {
    const more = hasMla ? LINEAR_WITH_MLA : [];
    const linear = features.textOr("linear_attn_backend", null);
    onList(features.textOr("linear_attn_decode_backend", linear), [...LINEAR_DECODE, ...more]);
    onList(features.textOr("linear_attn_prefill_backend", linear), [...LINEAR_PREFILL, ...more]);
  }
  if (mixers.size > 0 && layers.some(({ state }) => state !== null))
    onList(features.textOr("mamba_backend", null), MAMBA);
}

/** Decode context parallelism and what verifies drafts under it. @internal */
export function checkContextParallelBackends(features: Fields, algorithm: string | null): void {
  const { prefill, decode } = attentionBackends(features);
  onList(prefill, CONTEXT_PARALLEL);
  onList(decode, CONTEXT_PARALLEL);
  if (algorithm === null) return;
  const isOwnDraft = algorithm === "DFLASH" || algorithm === "DSPARK";
  if (isOwnDraft && [prefill, decode].includes("flashinfer")) refusePlan("backend_unsupported");
  const isDecode = features.textOr("speculative_attention_mode", null) === "decode";
  onList(isDecode ? decode : prefill, ["cutedsl_mla"]);
}

function onList(backend: string | null, list: readonly string[]): void {
  if (backend !== null && !list.includes(backend)) refusePlan("backend_unsupported");
}
