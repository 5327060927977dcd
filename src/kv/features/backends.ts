// Rules about backends: every backend that is named must be able to read strided page-major rows of what it serves.
import type { PlanRefusal } from "../plan/refusals.js";
import { planRefused } from "../plan/refusals.js";
import type { FeatureContext, FeatureRule } from "./context.js";
import { hasState, isAsymmetric, isLatent, partsOf } from "./context.js";
import type { BackendLayers } from "./tables.js";
import {
  BACKEND_TABLE,
  FLASH_BACKENDS,
  LINEAR_BACKENDS_ON_MLA,
  MULTI_WINDOW_BACKENDS,
} from "./tables.js";

const LAYER_WORDS: Readonly<Record<BackendLayers, string>> = {
  mha: "MHA full and sliding-window attention",
  mha_asymmetric: "MHA with asymmetric K/V head dims",
  mla: "MLA full attention",
  linear_decode: "linear attention, decode",
  linear_prefill: "linear attention, prefill",
  mamba: "Mamba",
};

/** In the order in which they answer. @internal */
export const BACKEND_RULES: readonly FeatureRule[] = [
  attentionBackends,
  linearBackends,
  mambaBackend,
  localAttention,
  severalWindows,
];

function attentionBackends(context: FeatureContext): PlanRefusal | null {
  for (const backend of attentionBackendsOf(context)) {
    for (const part of partsOf(context)) {
      const { geometry } = part;
      if (geometry.kind === "state") continue;
      const layers: BackendLayers =
        geometry.kind === "mla" ? "mla" : isAsymmetric(geometry) ? "mha_asymmetric" : "mha";
      if (!BACKEND_TABLE[layers].includes(backend)) return notListed(backend, layers);
    }
  }
  return null;
}

function linearBackends(context: FeatureContext): PlanRefusal | null {
  if (!mixersOf(context).has("linear")) return null;
  const { word } = context.features;
  const common = word("linear_attn_backend");
  const extra = isLatent(context) ? LINEAR_BACKENDS_ON_MLA : [];
  const check = (backend: string | undefined, layers: BackendLayers): PlanRefusal | null => {
    if (backend === undefined) return null;
    return [...BACKEND_TABLE[layers], ...extra].includes(backend)
      ? null
      : notListed(backend, layers, extra);
  };
  return (
    check(word("linear_attn_decode_backend") ?? common, "linear_decode") ??
    check(word("linear_attn_prefill_backend") ?? common, "linear_prefill")
  );
}

function mambaBackend(context: FeatureContext): PlanRefusal | null {
  const backend = context.features.word("mamba_backend");
  if (backend === undefined || !hasState(context)) return null;
  return BACKEND_TABLE.mamba.includes(backend) ? null : notListed(backend, "mamba");
}

function localAttention(context: FeatureContext): PlanRefusal | null {
  const { features } = context;
  const reason = context.isLocalAttention
    ? "local attention"
    : features.isOn("enable_prefill_aware_swa")
      ? "decode with prefill-aware sliding windows"
      : null;
  if (reason === null) return null;
  const flash = attentionBackendsOf(context).find((backend) => FLASH_BACKENDS.includes(backend));
  return flash === undefined
    ? null
    : planRefused("backend_unsupported", `${flash} refuses models with ${reason}`);
}

// A runner is bound to the windows that its own model's layers attend through.
function severalWindows(context: FeatureContext): PlanRefusal | null {
  for (const role of ["target", "draft"] as const) {
    const windows = context.plan.subPools.filter(
      (pool) => pool.lifetime.kind === "window" && pool.parts.some((part) => part.role === role),
    );
    if (windows.length < 2) continue;
    const other = attentionBackendsOf(context).find(
      (backend) => !MULTI_WINDOW_BACKENDS.includes(backend),
    );
    if (other !== undefined)
      return planRefused(
        "backend_unsupported",
        `${other} serves one window sub-pool a runner, the ${role} has ${windows.length}: only ${MULTI_WINDOW_BACKENDS.join(", ")} serves several`,
      );
  }
  return null;
}

/** The attention backends that the features name, prefill before decode. @internal */
export function attentionBackendsOf({ features }: FeatureContext): readonly string[] {
  const named = [features.prefillBackend, features.decodeBackend];
  return [...new Set(named.filter((backend) => backend !== undefined))];
}

function mixersOf(context: FeatureContext): ReadonlySet<string> {
  const mixers = new Set<string>();
  for (const { geometry } of partsOf(context))
    if (geometry.kind === "state") mixers.add(geometry.mixer);
  return mixers;
}

function notListed(
  backend: string,
  layers: BackendLayers,
  extra: readonly string[] = [],
): PlanRefusal {
  const allowed = [...BACKEND_TABLE[layers], ...extra].join(", ");
  return planRefused(
    "backend_unsupported",
    `${backend} is not audited for page-major entries of ${LAYER_WORDS[layers]} (${allowed})`,
  );
}
