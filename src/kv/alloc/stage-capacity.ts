// Capacity over pipeline stages: every question is asked of every stage's simulated snapshot, built from that stage's
// geometry and the shared live counts alone, so that all stages answer alike without telling each other.
import type { StageConfig } from "../../base/operations.js";
import { hashName, hexOf, type Lanes, LaneSum } from "../../base/digest.js";
import type { ChainConfig } from "../config.js";
import { bandPlans, type BandPlan } from "../memory/geometry.js";
import { type BandSnapshot, feasible, indexShortage } from "./pricing.js";

/** The stages' geometries and the fold of what was asked since the last digest. @internal */
export class StageCapacity {
  readonly stages: readonly StageConfig[];
  readonly self: number;
  readonly #plans: readonly (readonly BandPlan[])[];
  #folded = new LaneSum();
  #questions = 0;

  constructor(
    stages: readonly StageConfig[],
    self: number,
    plans: readonly (readonly BandPlan[])[],
  ) {
    this.stages = stages;
    this.self = self;
    this.#plans = plans;
  }

  /** Canonical packed layouts: ends packed to their live pages, floats as blocks, nothing free inside. */
  snapshots(live: readonly number[]): readonly (readonly BandSnapshot[])[] {
    return this.#plans.map((plans) => plans.map((plan, index) => simulated(plan, live[index]!)));
  }

  /** The same with each float packed low upon its neighbour: what estimates read. */
  laidOut(live: readonly number[]): readonly (readonly BandSnapshot[])[] {
    return this.snapshots(live).map(packedLow);
  }

  /** Ids that the stage with the fewest of them has in one band. */
  leastIds(index: number): number {
    return Math.min(
      ...this.#plans.map((plans) => Math.max(0, plans[index]!.pages - plans[index]!.first_page)),
    );
  }

  /** Whether the demand fits on every stage. */
  fits(live: readonly number[], demand: readonly number[]): boolean {
    return this.snapshots(live).every((snapshot) => feasible(snapshot, demand));
  }

  /** The first band, in chain order, whose index room is short on any stage, or -1. */
  shortage(live: readonly number[], demand: readonly number[]): number {
    const short = this.snapshots(live)
      .map((snapshot) => indexShortage(snapshot, demand))
      .filter((index) => index >= 0);
    return short.length === 0 ? -1 : Math.min(...short);
  }

  /** Folds a question, its demand and its answer. */
  fold(kind: string, demand: readonly number[], answer: boolean): void {
    const at = this.#questions * 64;
    this.#questions += 1;
    this.#folded.add(1, at, hashName(kind));
    for (const [index, pages] of demand.entries()) this.#folded.add(2, at + index, pages);
    this.#folded.add(3, at, answer ? 1 : 0);
  }

  /** The fold with the units held now, 16 hex digits. */
  digest(held: readonly number[]): string {
    const sum = new LaneSum();
    sum.copyFrom(this.#folded);
    for (const [index, pages] of held.entries()) sum.add(4, index, pages);
    return hexOf(sum.a, sum.b);
  }

  /** Starts the next iteration's fold. */
  restart(): void {
    this.#folded = new LaneSum();
    this.#questions = 0;
  }

  /** The fold so far, for a state. */
  save(): StageFold {
    return { a: this.#folded.a, b: this.#folded.b, questions: this.#questions };
  }
  restore(fold: StageFold): void {
    this.#folded.copyFrom(fold);
    this.#questions = fold.questions;
  }
}

/** What a stage has folded since its last digest. @internal */
export interface StageFold extends Lanes {
  readonly questions: number;
}

/** Why these stages cannot be installed, or their band plans. All must plan the run's own sub-pools on its page size,
 * and each needs a full-attention owner. @internal */
export function planStages(
  config: ChainConfig,
  stages: readonly StageConfig[],
  self: number,
): { readonly rule: string } | readonly (readonly BandPlan[])[] {
  const plans: (readonly BandPlan[])[] = [];
  const own = bandPlans(config);
  if (self >= stages.length) return { rule: "stage_sub_pools" };
  for (const stage of stages) {
    const planned = bandPlans({
      ...config,
      arenaBytes: stage.arena_bytes,
      subPools: inChainOrder(config, stage),
    });
    if (!planned.some((plan) => plan.isOwner)) return { rule: "no_full_owner" };
    const agrees =
      planned.length === own.length &&
      stage.sub_pools.length === own.length &&
      planned.every(
        (plan, index) => plan.name === own[index]!.name && plan.kind === own[index]!.kind,
      ) &&
      planned.every((plan, index) => plan.window === own[index]!.window) &&
      (stage.page_size ?? config.pageSize) === config.pageSize;
    if (!agrees) return { rule: "stage_sub_pools" };
    plans.push(planned);
  }
  const mine = plans[self]!; // self is in range
  const isMine = mine.every(
    (plan, index) => plan.pages === own[index]!.pages && plan.unit_bytes === own[index]!.unit_bytes,
  );
  return isMine ? plans : { rule: "stage_sub_pools" };
}

/** The stage's sub-pools in the order of the run's chain; unknown ones last, which then disagree. */
function inChainOrder(config: ChainConfig, stage: StageConfig): StageConfig["sub_pools"] {
  const rank = (name: string): number => {
    const index = config.subPools.findIndex((pool) => pool.name === name);
    return index < 0 ? config.subPools.length : index;
  };
  return [...stage.sub_pools].sort((left, right) => rank(left.name) - rank(right.name));
}

function packedLow(bands: readonly BandSnapshot[]): readonly BandSnapshot[] {
  let cursor = 0; // bytes
  return bands.map((band) => {
    if (band.grow === "float" && band.spanCount === 0) return band;
    const lowest = Math.max(Math.ceil(cursor / band.pageBytes), band.firstPage);
    const spanFirst = band.grow === "float" ? lowest : band.spanFirst;
    cursor = (spanFirst + band.spanCount) * band.pageBytes;
    return { ...band, spanFirst };
  });
}

function simulated(plan: BandPlan, live: number): BandSnapshot {
  const first = plan.grow === "down" ? plan.pages - live : plan.first_page;
  return {
    grow: plan.grow,
    pageBytes: plan.page_bytes,
    pages: plan.pages,
    firstPage: plan.first_page,
    live,
    free: 0,
    vacated: 0,
    spanFirst: plan.grow === "float" && live === 0 ? plan.pages : first,
    spanCount: live,
    pinned: 0,
    kept: 0,
  };
}
