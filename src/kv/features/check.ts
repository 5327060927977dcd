// A `features` object against the guide's tables: the first rule that is broken refuses, else notices say what changed.
import type { PlanRefusal } from "../plan/refusals.js";
import { planRefused } from "../plan/refusals.js";
import { attentionBackendsOf, BACKEND_RULES } from "./backends.js";
import type { FeatureContext, FeatureRule } from "./context.js";
import { hasState, hasWindow } from "./context.js";
import { INTERACTION_RULES } from "./interactions.js";
import type { Notice } from "./tables.js";
import { FULL_GRAPH_BACKENDS } from "./tables.js";

/** @public */
export type CheckedFeatures =
  { readonly notices: readonly Notice[] } | { readonly refusal: PlanRefusal };

/** Checks features against a plan. @public */
export function checkFeatures(context: FeatureContext): CheckedFeatures {
  for (const rule of [eagerCompaction, ...BACKEND_RULES, ...INTERACTION_RULES, chunkGrid]) {
    const refusal = rule(context);
    if (refusal !== null) return { refusal };
  }
  return { notices: noticesOf(context) };
}

/** The grid that every prefill chunk but a prompt's last ends on, tokens, or null where there is none: a model with
 * windows and state, prefix sharing, and a strategy that keeps checkpoints. @public */
export function checkpointGrid(context: FeatureContext): number | null {
  const { checkpointTokens, prefixSharing, plan } = context;
  const hasFloor = prefixSharing && checkpointTokens !== null;
  if (!hasFloor || !hasWindow(context) || !hasState(context)) return null;
  return leastCommonMultiple(plan.pageTokens, checkpointTokens);
}

const eagerCompaction: FeatureRule = ({ features }) =>
  features.isOn("disable_lazy_compaction")
    ? planRefused(
        "eager_compaction",
        "disable_lazy_compaction must stay unset: unified memory compacts lazily",
      )
    : null;

const chunkGrid: FeatureRule = (context) => {
  const chunk = context.chunkedPrefillTokens;
  const grid = checkpointGrid(context);
  if (chunk === undefined || grid === null || chunk >= grid) return null;
  return planRefused(
    "chunk_below_grid",
    `chunked_prefill_size ${chunk} is below the checkpoint grid of ${grid} tokens`,
  );
};

function noticesOf(context: FeatureContext): Notice[] {
  const { features } = context;
  const notices: Notice[] = [];
  if (features.isOn("enable_priority_scheduling") && !features.isOn("disable_priority_preemption"))
    notices.push("priority_preemption_off");
  const isHostLayout =
    features.isOn("enable_hierarchical_cache") &&
    features.word("hicache_mem_layout") === "page_first_direct";
  if (isHostLayout) notices.push("host_layout_switched");
  const graph = features.word("cuda_graph_backend_prefill")?.toLowerCase();
  const keepsGraph = attentionBackendsOf(context).every((backend) =>
    FULL_GRAPH_BACKENDS.includes(backend),
  );
  if (graph === "full" && !keepsGraph) notices.push("prefill_graph_disabled");
  if (!features.isOn("enable_page_major_kv_layout")) notices.push("page_major_implied");
  return notices;
}

function leastCommonMultiple(left: number, right: number): number {
  let a = left;
  let b = right;
  while (b !== 0) [a, b] = [b, a % b];
  return (left / a) * right;
}
