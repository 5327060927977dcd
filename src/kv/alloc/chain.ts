// The chain: one allocator over all bands. Every capacity question and every take goes through here, priced by one
// function, so that a yes is a successful take.
import { assert } from "../../base/assert.js";
import type { MovePair } from "../../base/effects.js";
import type { Demand, OperationError, Step } from "../../base/operations.js";
import { toExtents } from "../../base/extents.js";
import type { ChainConfig } from "../config.js";
import type { BandPlan } from "../memory/geometry.js";
import { BAND_FIELD, type Band } from "./band.js";
import {
  type CompactionContext,
  flushOpportunistic,
  flushUrgent,
  packingMoves,
} from "./compaction.js";
import { EndBand } from "./end-band.js";
import { FenceList } from "./fences.js";
import { FloatBand } from "./float-band.js";
import { type ForwardStep, ForwardSteps } from "./forward-steps.js";
import { IdSpace } from "./id-space.js";
import { PageUsage } from "./page-usage.js";
import { type BandSnapshot, type ChainPlan, firstPlan, indexShortage } from "./pricing.js";
import { moveOrder, relocate, relocationMoves } from "./relocation.js";
import { EffectScope, newer } from "./signals.js";
import { StageCapacity } from "./stage-capacity.js";

/** Pages taken, by band index, and the step that served them. @internal */
export interface Taken {
  readonly pages: readonly (readonly number[])[];
  readonly step: Step;
}
/** What relief did: the plan it followed and the moves of each band. @internal */
export interface Relieved {
  readonly plan: ChainPlan;
  readonly moves: readonly number[];
}

/** A band's snapshot after settling, parking and absorbing: what relief plans on. */
function settled(band: Band, snapshot: BandSnapshot): BandSnapshot {
  if (!(band instanceof FloatBand)) return snapshot;
  const pages = band.livePages();
  const first = pages[0] ?? band.plan.pages;
  const count = pages.length === 0 ? 0 : pages.at(-1)! + 1 - first;
  return { ...snapshot, spanFirst: first, spanCount: count, free: count - band.live };
}

/** Moves that a plan's step makes in one band as it stands. */
function plannedMoves(band: Band, plan: ChainPlan): number {
  if (plan.step === "no_move") return 0;
  if (band instanceof EndBand) return packingMoves(band);
  if (plan.step === "flush_ends" || !(band instanceof FloatBand)) return 0;
  return relocationMoves(band, plan.spans[band.index]![0]).length;
}

/** The allocator over all bands of one arena. @internal */
export class ChainAllocator {
  readonly config: ChainConfig;
  readonly bands: readonly Band[];
  readonly owner: Band; // full attention: mints the virtual pages
  readonly stateBand: Band | null;
  readonly virtual: IdSpace;
  readonly slots: IdSpace | null;
  readonly steps: ForwardSteps;
  readonly scope: EffectScope;
  readonly fences: FenceList;
  readonly usage: PageUsage;
  moveEpoch: number; // `move` effects so far
  /** Set by `stages.install`: from then on every question is asked of all stages. */
  stages: StageCapacity | null = null;
  readonly #snapshot: BandSnapshot[];
  readonly #snapshotEpochs: number[];
  readonly #context: CompactionContext;

  /** @param before - the chain that a resize replaces: its forwards, fences and move epoch go on */
  constructor(
    config: ChainConfig,
    plans: readonly BandPlan[],
    parts: { layout: boolean; deep: boolean },
    before?: ChainAllocator,
  ) {
    this.steps = before?.steps ?? new ForwardSteps();
    this.fences = before?.fences ?? new FenceList();
    this.moveEpoch = before?.moveEpoch ?? 0;
    this.scope = new EffectScope(this.steps);
    this.config = config;
    const ownerPlan = plans.find((plan) => plan.isOwner)!; // planRefusal found one
    const statePlan = plans.find((plan) => plan.kind === "state");
    const field = parts.deep ? BAND_FIELD.freeIds : 0;
    const usable = (plan: BandPlan): number => Math.max(0, plan.pages - plan.first_page);
    this.virtual = new IdSpace(ownerPlan.first_page, usable(ownerPlan), field);
    this.slots = statePlan ? new IdSpace(statePlan.first_page, usable(statePlan), field) : null;
    this.bands = plans.map((plan, index) => {
      const ids = plan.kind === "state" ? plan : ownerPlan;
      const size = Math.max(ids.pages, ids.first_page);
      return plan.grow === "float"
        ? new FloatBand(plan, index, size, parts)
        : new EndBand(plan, index, size, parts);
    });
    this.owner = this.bands[plans.indexOf(ownerPlan)]!;
    this.stateBand = statePlan ? this.bands[plans.indexOf(statePlan)]! : null;
    this.usage = new PageUsage(this.steps, this.virtual, this.slots);
    this.#snapshot = this.bands.map((band) => ({
      grow: band.plan.grow,
      pageBytes: band.plan.page_bytes,
      pages: band.plan.pages,
      firstPage: band.plan.first_page,
      live: 0,
      free: 0,
      vacated: 0,
      spanFirst: 0,
      spanCount: 0,
    }));
    this.#snapshotEpochs = this.bands.map(() => -1);
    this.#context = {
      steps: this.steps,
      usage: this.usage,
      fences: this.fences,
      scope: this.scope,
      moved: () => (this.moveEpoch += 1),
    };
  }

  /** The bands as pricing sees them; a band is read again only after its epoch moved. */
  snapshot(): readonly BandSnapshot[] {
    for (let index = 0; index < this.bands.length; index++) {
      const band = this.bands[index]!; // index is in range
      if (this.#snapshotEpochs[index] === band.epoch) continue;
      this.#snapshotEpochs[index] = band.epoch;
      const snapshot = this.#snapshot[index]!; // one a band
      snapshot.live = band.live;
      snapshot.free = band.holes.length + band.pendingPages;
      snapshot.vacated = band.vacated.length;
      snapshot.spanFirst = band.spanFirst;
      snapshot.spanCount = band.spanCount;
    }
    return this.#snapshot;
  }

  /** A demand as numbers by band index. */
  vector(demand: Demand): number[] {
    return this.bands.map((band) => demand[band.plan.name] ?? 0);
  }

  /** Whether exactly this take would succeed now. */
  fits(demand: readonly number[]): boolean {
    return "step" in this.price(demand, "fits");
  }

  /** The plan by which a take of this demand would go, or the refusal that it meets: virtual ids, slot ids, index room,
   * bytes. `kind` names the question for the stages' agreement. */
  price(demand: readonly number[], kind = "take"): ChainPlan | OperationError {
    const priced = this.#price(demand);
    this.stages?.fold(kind, demand, "step" in priced);
    return priced;
  }

  #price(demand: readonly number[]): ChainPlan | OperationError {
    const wanted = demand[this.owner.index]!;
    const ids = this.#freeIds(this.virtual, this.owner);
    if (wanted > ids) return { code: "refused_ids", need: wanted, free: ids };
    if (this.slots !== null && this.stateBand !== null) {
      const states = demand[this.stateBand.index]!;
      const slots = this.#freeIds(this.slots, this.stateBand);
      if (states > slots) return { code: "refused_state", need: states, free: slots };
    }
    if (this.stages === null)
      return firstPlan(this.snapshot(), demand) ?? this.#capacityRefusal(demand);
    if (!this.stages.fits(this.#live(), demand)) return this.#capacityRefusal(demand);
    return this.#realised(demand);
  }

  /** Free ids of a space; with stages those of the stage that has the fewest, since all hold the same. */
  #freeIds(space: IdSpace, band: Band): number {
    if (this.stages === null) return space.free.length;
    return Math.max(0, this.stages.leastIds(band.index) - (space.count - space.free.length));
  }

  /** How this stage serves a take that all stages granted: vacated pages are no obstacle, a flush takes them back. */
  #realised(demand: readonly number[]): ChainPlan {
    const bands = this.snapshot();
    const plan =
      firstPlan(bands, demand) ??
      firstPlan(
        bands.map((band) => ({ ...band, vacated: 0 })),
        demand,
      );
    assert(plan !== null, "chain.stage_take_is_realizable");
    return plan;
  }

  #live(): number[] {
    return this.bands.map((band) => band.live);
  }

  /** Whether a demand fits after `credit` pages by band, clipped at what is live, were freed. */
  fitsReclaimed(
    demand: readonly number[],
    credit: readonly number[],
    kind = "fits_reclaimed",
  ): boolean {
    const freed = this.bands.map((band, index) => Math.min(credit[index]!, band.live));
    const fits = this.#idsServe(demand, freed) && this.#layoutServes(demand, freed);
    this.stages?.fold(kind, demand, fits);
    return fits;
  }

  #idsServe(demand: readonly number[], freed: readonly number[]): boolean {
    const owner = this.owner.index;
    if (demand[owner]! > this.#freeIds(this.virtual, this.owner) + freed[owner]!) return false;
    if (this.stateBand === null || this.slots === null) return true;
    const state = this.stateBand.index;
    return demand[state]! <= this.#freeIds(this.slots, this.stateBand) + freed[state]!;
  }

  #layoutServes(demand: readonly number[], freed: readonly number[]): boolean {
    if (this.stages !== null) {
      return this.stages.fits(
        this.#live().map((live, index) => live - freed[index]!),
        demand,
      );
    }
    const bands = this.snapshot().map((band, index) => {
      const pages = freed[index]!;
      return { ...band, live: band.live - pages, free: band.free + pages };
    });
    return firstPlan(bands, demand) !== null;
  }

  /** Whether a demand fits the empty chain, on every stage. */
  fitsEmpty(demand: readonly number[]): boolean {
    const ids = demand[this.owner.index]! <= this.virtual.count;
    const slots =
      this.stateBand === null || demand[this.stateBand.index]! <= (this.slots?.count ?? 0);
    const empty = new StageCapacity([], 0, [this.bands.map((band) => band.plan)]);
    const none = this.bands.map(() => 0);
    return ids && slots && (this.stages ?? empty).fits(none, demand);
  }

  /** Every stage's simulated snapshot, floats laid out; null without stages. */
  stageSnapshots(): readonly (readonly BandSnapshot[])[] | null {
    return this.stages?.laidOut(this.#live()) ?? null;
  }

  /** The plan that a take of this demand would end up with, after its relief settles, and its moves by band. */
  finalPlan(demand: readonly number[]): Relieved | OperationError {
    const priced = this.price(demand, "plan");
    if (!("step" in priced)) return priced;
    if (priced.step === "no_move") return { plan: priced, moves: this.bands.map(() => 0) };
    const plan = firstPlan(
      this.bands.map((band, index) => settled(band, this.#snapshot[index]!)),
      demand,
    );
    assert(plan !== null, "chain.relief_keeps_the_plan");
    return { plan, moves: this.bands.map((band) => plannedMoves(band, plan)) };
  }

  #capacityRefusal(demand: readonly number[]): OperationError {
    const short =
      this.stages?.shortage(this.#live(), demand) ?? indexShortage(this.snapshot(), demand);
    const named: Record<string, number> = {};
    for (const band of this.bands) {
      const pages = demand[band.index]!;
      if (pages > 0) named[band.plan.name] = pages;
    }
    const limit = short < 0 ? "bytes" : this.bands[short]!.plan.name;
    return { code: "refused_capacity", demand: named, limit };
  }

  /** Takes a demand by the plan that `price` just gave. Waits come first, band by band; zeroing follows in chain order. */
  take(demand: readonly number[], plan: ChainPlan): Taken {
    const { step, spans } = plan.step === "no_move" ? plan : this.#relief(demand).plan;
    const pages: number[][] = [];
    for (const band of this.bands) {
      const wanted = demand[band.index]!;
      pages.push(wanted === 0 ? [] : this.#acquire(band, wanted, spans[band.index]![0]));
    }
    for (const band of this.bands) {
      const taken = pages[band.index]!;
      if (taken.length > 0 && band.plan.kind !== "state") {
        this.scope.emit(["zero", band.plan.name, toExtents(taken)]);
      }
    }
    return { pages, step };
  }

  /** Makes room as a take of this demand would, without taking. */
  relieve(demand: readonly number[], plan: ChainPlan): Relieved {
    if (plan.step === "no_move") return { plan, moves: this.bands.map(() => 0) };
    return this.#relief(demand);
  }

  /** Opportunistic flush, low to high. */
  flush(): readonly { readonly moves: readonly MovePair[]; readonly absorbed: number }[] {
    return this.bands.map((band) =>
      band instanceof EndBand
        ? flushOpportunistic(band, this.config.moveCapPages, this.#context)
        : { moves: [], absorbed: band.absorb() },
    );
  }

  #acquire(band: Band, count: number, plannedFirst: number): number[] {
    const settled: { forward: ForwardStep | null; fresh: number } = { forward: null, fresh: 0 };
    const reused = Math.min(count, band.holes.length + band.pendingPages);
    const pages = band.acquire(count, plannedFirst, settled);
    let wait = settled.forward;
    if (count > reused && this.fences.list.length > 0) {
      const from = settled.fresh * band.plan.page_bytes;
      const to = (settled.fresh + count - reused) * band.plan.page_bytes;
      wait = newer(wait?.retired === false ? wait : null, this.fences.newestReader(from, to));
    }
    this.scope.wait(wait);
    return pages;
  }

  /** Urgent recovery: host reads first, then settle, park and absorb, plan again, pack the ends, place the floats. */
  #relief(demand: readonly number[]): Relieved {
    this.scope.emit(["hostread", "recovery"]);
    let newest: ForwardStep | null = null;
    for (const band of this.bands) newest = newer(newest, band.newestPending);
    this.scope.wait(newest);
    for (const band of this.bands) while (band.pending.length > 0) band.settleOldest();
    const floats = this.bands.filter((band) => band instanceof FloatBand);
    for (const band of floats) band.parkIfEmpty();
    for (const band of floats) band.absorb();
    const plan = this.stages === null ? firstPlan(this.snapshot(), demand) : this.#realised(demand);
    assert(plan !== null, "chain.relief_keeps_the_plan");
    const moves = this.bands.map(() => 0);
    if (plan.step === "no_move") return { plan, moves };
    for (const band of this.bands) {
      if (!(band instanceof EndBand) || (band.holes.length === 0 && band.vacated.length === 0))
        continue;
      moves[band.index] = flushUrgent(band, this.#context);
    }
    if (plan.step === "relayout") {
      const placed = floats.filter((band) => band.live > 0);
      const order = moveOrder(placed.map((band) => ({ band, target: plan.spans[band.index]! })));
      for (const relocation of order)
        moves[relocation.band.index] = relocate(relocation, this.#context);
    }
    return { plan, moves };
  }

  /** Ends an operation: what its waits or its processing released goes back, the effects are handed over. */
  endOperation(): void {
    if (!this.steps.retiredSome) return;
    this.steps.retiredSome = false;
    for (const band of this.bands) band.releaseVacated();
    this.fences.dropRetired();
  }

  bandNamed(name: string): Band | undefined {
    return this.bands.find((band) => band.plan.name === name);
  }
}
