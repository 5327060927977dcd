// What the guide's rules look at: the plan, the features, and how the run is configured.
import type { MhaGeometry } from "../decl/types.js";
import type { KVPart } from "../decl/types.js";
import type { KVStoragePlan } from "../plan/plan.js";
import type { PlanRefusal } from "../plan/refusals.js";
import type { Features } from "./reading.js";

/** @public */
export interface FeatureContext {
  readonly features: Features;
  readonly plan: KVStoragePlan;
  readonly model: unknown; // as the configuration names it
  readonly pageTokens: number; // page size as configured
  readonly isLocalAttention: boolean;
  readonly chunkedPrefillTokens: number | undefined;
  readonly checkpointTokens: number | null; // the checkpoint grid of a strategy that tracks
  readonly prefixSharing: boolean;
}

/** One rule of the guide. @internal */
export type FeatureRule = (context: FeatureContext) => PlanRefusal | null;

/** @internal */
export function partsOf(context: FeatureContext): readonly KVPart[] {
  return context.plan.subPools.flatMap((pool) => pool.parts);
}
/** @internal */
export function hasWindow(context: FeatureContext): boolean {
  return context.plan.subPools.some((pool) => pool.lifetime.kind === "window");
}
/** @internal */
export function hasState(context: FeatureContext): boolean {
  return context.plan.subPools.some((pool) => pool.kind === "state");
}
/** @internal */
export function isLatent(context: FeatureContext): boolean {
  return context.plan.subPools.some((pool) => pool.kind === "mla");
}
/** @internal */
export function isAsymmetric(geometry: MhaGeometry): boolean {
  return geometry.keyDim !== geometry.valueDim;
}
