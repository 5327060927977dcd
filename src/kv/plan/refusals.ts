// Why a model form cannot be served: rules with a reason, and the boot floor with its terms. Values, never thrown.

/** Rules of `refused_plan`; each is a row of the supported tables or a law of the arena. @public */
export const PLAN_RULES = [
  "model_unsupported",
  "no_full_owner",
  "mla_with_window",
  "two_geometries",
  "full_only",
  "draft_needs_state",
  "eager_compaction",
  "backend_unsupported",
  "feature_conflict",
  "peer_mismatch",
  "chunk_below_grid",
  "stage_sub_pools",
  "no_usable_page",
  "kernel_id_space",
  "misaligned_view",
] as const;
/** @public */
export type PlanRule = (typeof PLAN_RULES)[number];

/** @public */
export interface PlanRefusal {
  readonly code: "refused_plan";
  readonly rule: PlanRule;
  readonly band?: string;
  readonly message: string; // the reason, one line
}
/** The budget is below the sum of the terms. @public */
export interface FloorRefusal {
  readonly code: "refused_floor";
  readonly terms: Readonly<Record<string, number>>; // bytes by name
  readonly message: string;
}
/** @public */
export type BuildRefusal = PlanRefusal | FloorRefusal;

/** @internal */
export function planRefused(rule: PlanRule, message: string, band?: string): PlanRefusal {
  return band === undefined
    ? { code: "refused_plan", rule, message }
    : { code: "refused_plan", rule, band, message };
}
