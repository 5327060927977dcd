// Sizes that are agreed on or reached later: the stages of a pipeline, and growth of the backing after capture.
import { assert } from "../../base/assert.js";
import type { KVStoragePlan } from "../plan/plan.js";
import type { FloorRefusal } from "../plan/refusals.js";
import type { Sized, Sizing, SizingOptions } from "./size.js";
import { sizeAtConcurrency, sizePlan } from "./size.js";

/** One stage of a pipeline: its own layers and its own budget. @public */
export interface StageSizing {
  readonly plan: KVStoragePlan;
  readonly options: SizingOptions;
}

/** Sizes every stage; all take the least concurrency of them. The first refusal answers for all. @public */
export function sizeStages(
  stages: readonly StageSizing[],
): { readonly sizings: readonly Sizing[] } | { readonly refusal: FloorRefusal } {
  const alone: Sizing[] = [];
  for (const { plan, options } of stages) {
    const sized: Sized = sizePlan(plan, options);
    if ("refusal" in sized) return sized;
    alone.push(sized.sizing);
  }
  const concurrency = Math.min(...alone.map((sizing) => sizing.concurrency));
  const sizings = stages.map(({ plan, options }) => {
    // With fewer rows to pay for, a stage's budget gives at least what it gave alone.
    const sized = sizePlan(plan, { ...options, maxRunningRequests: concurrency });
    assert(!("refusal" in sized), "a stage that was sized is sized again"); // the floor is the same
    return sized.sizing;
  });
  return { sizings };
}

/** What `arena.resize` is asked for after capture. @public */
export interface GrowthPlan {
  readonly arenaBytes: number; // the new size
  readonly chunks: number; // of `chunkBytes`, the last one whole
  readonly sizing: Sizing; // targets of the new size, the concurrency as it was
}

/** The arena that a budget measured after graph capture allows. The request table is allocated already, so the
 * concurrency stays; null when the budget gives no more than there is. `chunkBytes` at least 1. @public */
export function growAfterCapture(
  plan: KVStoragePlan,
  options: SizingOptions,
  before: Sizing,
  measuredBytes: number,
  chunkBytes: number,
): GrowthPlan | null {
  const sized = sizePlan(plan, {
    ...options,
    budgetBytes: measuredBytes,
    maxRunningRequests: before.concurrency,
  });
  if ("refusal" in sized) return null;
  const sizing = sizeAtConcurrency(plan, options, sized.sizing.budgetBytes, before.concurrency);
  const grown = sizing.arenaBytes - before.arenaBytes;
  if (grown <= 0) return null;
  return { arenaBytes: sizing.arenaBytes, chunks: Math.ceil(grown / chunkBytes), sizing };
}
