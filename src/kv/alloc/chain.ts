// The chain: one allocator over all bands. Every capacity question and every take goes through here, priced by one
// function, so that a yes is a successful take.
import { assert } from "../../base/assert.js";
import type { MovePair } from "../../base/effects.js";
import type { Demand, OperationError, Step } from "../../base/operations.js";
import { toExtents } from "../../base/extents.js";
import type { ChainConfig } from "../config.js";
import type { BandPlan } from "../memory/geometry.js";
import { BAND_FIELD, type Band } from "./band.js";
import { ReachedCounts, type Consumer, HazardSet } from "./clearance.js";
import { flushOpportunistic } from "./compaction.js";
import { EndBand } from "./end-band.js";
import { FenceList } from "./fences.js";
import { FloatBand } from "./float-band.js";
import { type ForwardStep, ForwardSteps } from "./forward-steps.js";
import { IdSpace } from "./id-space.js";
import { Invariants } from "./invariants.js";
import { Ledger } from "./ledger.js";
import { PageUsage } from "./page-usage.js";
import {
  type BandSnapshot,
  type ChainPlan,
  firstPlan,
  indexShortage,
  planFlushEnds,
  planNoMove,
  planRelayout,
} from "./pricing.js";
import {
  holdsAnything,
  planRelief,
  plannedMoves,
  type ReliefContext,
  type Relieved,
  relieve,
  servesAfterFrees,
} from "./relief.js";
import { EffectScope, type NetworkTransfer } from "./signals.js";
import { SnapshotMemo } from "./snapshot.js";
import { firstWriter, touchedTransfers } from "./touched.js";
import { StageCapacity } from "./stage-capacity.js";

/** Pages taken, by band index, and the step that served them. @internal */
export interface Taken {
  readonly pages: readonly (readonly number[])[];
  readonly step: Step;
}
/** Names the stalled ones among transfers that would be waited, oldest first; null where none is. */
function deadline(transfers: readonly NetworkTransfer[]): OperationError | null {
  const stalled = transfers.filter((transfer) => transfer.isStalled);
  return stalled.length === 0
    ? null
    : { code: "deadline", transfers: stalled.map(({ name }) => name) };
}

/** How a take will go. @internal */
export interface PricedPlan extends ChainPlan {
  /** Served as the bands stand. Else relief comes first; its own plan may still be a `no_move`, once all is settled. */
  readonly inPlace: boolean;
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
  readonly invariants: Invariants;
  readonly scope: EffectScope;
  readonly fences: FenceList;
  readonly usage: PageUsage;
  readonly ledger: Ledger;
  readonly counts: ReachedCounts;
  /** Places by band index of receives that hold their rows until they are published; set by whoever keeps transfers. */
  heldPlaces: () => readonly (readonly number[])[] = () => [];
  moveEpoch: number; // `move` effects so far
  /** Set by `stages.install`: from then on every question is asked of all stages. */
  stages: StageCapacity | null = null;
  /** Whether a load has fixed pages that it must name before anything is taken: with stages no take is granted then. */
  mustBindFirst: () => boolean = () => false;
  readonly #snapshot: SnapshotMemo;
  readonly #context: ReliefContext;

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
    this.counts = before?.counts ?? new ReachedCounts();
    this.invariants = new Invariants(config.invariants);
    this.scope = new EffectScope(this.steps, this.invariants);
    this.ledger = new Ledger(this.scope);
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
    this.#snapshot = new SnapshotMemo(this.bands);
    this.#context = {
      bands: this.bands,
      steps: this.steps,
      usage: this.usage,
      fences: this.fences,
      ledger: this.ledger,
      counts: this.counts,
      invariants: this.invariants,
      scope: this.scope,
      snapshot: () => this.snapshot(),
      heldPlaces: () => this.heldPlaces(),
      moved: () => (this.moveEpoch += 1),
    };
    for (const band of this.bands) {
      band.onLeave = ({ plan }, page, users) =>
        this.fences.add(page * plan.page_bytes, (page + 1) * plan.page_bytes, users);
    }
  }

  /** The bands as pricing sees them; a band is read again only after its epoch moved. */
  snapshot(): readonly BandSnapshot[] {
    return this.#snapshot.read();
  }
  /** Bands of which pricing keeps an outdated snapshot; none in a sound chain. */
  staleSnapshots(): readonly Band[] {
    return this.#snapshot.stale();
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
  price(demand: readonly number[], kind = "take"): PricedPlan | OperationError {
    const priced = this.priceUnfolded(demand);
    this.stages?.fold(kind, demand, "step" in priced);
    return priced;
  }

  /** The same as one step of a longer question, which the stages agree on as a whole. */
  priceUnfolded(demand: readonly number[]): PricedPlan | OperationError {
    const wanted = demand[this.owner.index]!;
    const ids = this.#freeIds(this.virtual, this.owner);
    if (wanted > ids) return { code: "refused_ids", need: wanted, free: ids };
    if (this.slots !== null && this.stateBand !== null) {
      const states = demand[this.stateBand.index]!;
      const slots = this.#freeIds(this.slots, this.stateBand);
      if (states > slots) return { code: "refused_state", need: states, free: slots };
    }
    if (this.stages === null) return this.#planned(demand);
    // the take would be refused as out of turn, on every stage: loads are the same on all
    if (this.mustBindFirst() || !this.stages.fits(this.#live(), demand))
      return this.capacityRefusal(demand);
    const plan = this.#realised(demand);
    return { ...plan, inPlace: plan.step === "no_move" };
  }

  /** In place, keeping out of bytes that a send still reads; else by relief. */
  #planned(demand: readonly number[]): PricedPlan | OperationError {
    const bands = this.snapshot();
    if (indexShortage(bands, demand) >= 0) return this.capacityRefusal(demand);
    const inPlace = planNoMove(bands, demand, this.fences.heldByTransfers());
    if (inPlace !== null) return { step: inPlace.step, spans: inPlace.spans, inPlace: true };
    // With nothing fixed counts alone decide: settling and absorbing take nothing away from a layout.
    if (!holdsAnything(this.#context)) {
      const plan = planFlushEnds(bands, demand) ?? planRelayout(bands, demand);
      return plan === null ? this.capacityRefusal(demand) : { ...plan, inPlace: false };
    }
    const relief = planRelief(this.#context, demand);
    if (relief === null) return this.capacityRefusal(demand);
    const plan = { ...relief.plan, inPlace: false };
    if (!relief.movesTransfers) return plan;
    const { transfers } = this.ledger;
    const touched = touchedTransfers(this.bands, transfers, relief, demand, "zero");
    return deadline(touched.map(({ transfer }) => transfer)) ?? plan;
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

  /** Whether pages are fixed or used by transfers: then counts alone do not tell what frees would give. */
  get holdsAnything(): boolean {
    return holdsAnything(this.#context);
  }

  /** Whether a demand fits after `credit` pages by band, clipped at what is live, were freed. */
  fitsReclaimed(demand: readonly number[], credit: readonly number[]): boolean {
    const freed = this.bands.map((band, index) => Math.min(credit[index]!, band.live));
    if (freed.every((pages) => pages === 0)) return "step" in this.priceUnfolded(demand);
    return this.#idsServe(demand, freed) && this.#layoutServes(demand, freed);
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
      const left = this.#live().map((live, index) => live - freed[index]!);
      return !this.mustBindFirst() && this.stages.fits(left, demand);
    }
    return servesAfterFrees(this.#context, demand, freed);
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
    if (priced.inPlace) return { plan: priced, moves: this.bands.map(() => 0) };
    const relief = planRelief(this.#context, demand);
    assert(relief !== null, "chain.relief_keeps_the_plan");
    return { plan: relief.plan, moves: plannedMoves(this.#context, relief) };
  }

  /** The refusal of a take that no layout serves. */
  capacityRefusal(demand: readonly number[]): OperationError {
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

  /**
   * Takes a demand by the plan that `price` just gave. Waits come first, band by band; zeroing follows in chain order.
   *
   * @param consumer - who writes the pages next: `zero` for tokens (of states then a copy or a reset), a host load, a
   * peer. A host load's pages are not zeroed: the copy overwrites them whole.
   */
  take(demand: readonly number[], plan: PricedPlan, consumer: Consumer = "zero"): Taken {
    const { step, spans } = plan.inPlace ? plan : this.#relief(demand, consumer).plan;
    const pages: number[][] = [];
    for (const band of this.bands) {
      const wanted = demand[band.index]!;
      pages.push(
        wanted === 0
          ? []
          : this.#acquire(band, wanted, spans[band.index]![0], firstWriter(band, consumer)),
      );
    }
    if (consumer === "host_load") return { pages, step };
    for (const band of this.bands) {
      const taken = pages[band.index]!;
      if (taken.length > 0 && band.plan.kind !== "state") {
        this.scope.emit(["zero", band.plan.name, toExtents(taken)]);
      }
    }
    return { pages, step };
  }

  /** Makes room as a take of this demand would, without taking. */
  relieve(demand: readonly number[], plan: PricedPlan): Relieved {
    if (plan.inPlace) return { plan, moves: this.bands.map(() => 0) };
    return this.#relief(demand, "zero");
  }

  /** Opportunistic flush, low to high. A band with rows that await publication is left alone. */
  flush(): readonly { readonly moves: readonly MovePair[]; readonly absorbed: number }[] {
    const held = this.heldPlaces();
    return this.bands.map((band) => {
      if ((held[band.index]?.length ?? 0) > 0) return { moves: [], absorbed: 0 };
      return band instanceof EndBand
        ? flushOpportunistic(band, this.config.moveCapPages, this.#context)
        : { moves: [], absorbed: band.absorb() };
    });
  }

  /** Clears what one consumer meets on places that it uses: `reads` by band are only read, `writes` written. */
  clear(
    consumer: Consumer,
    hazards: HazardSet,
    band: Band,
    page: number,
    use: "reads" | "writes",
  ): void {
    for (const found of band.usesAt(page)) {
      const writes = found.direction === (found.kind === "copy" ? "in" : "receive");
      if (writes || use === "writes") hazards.add(consumer, found);
    }
  }

  /** The refusal of an operation whose host waits would outlive their deadline, or null. */
  stalled(hazards: HazardSet): OperationError | null {
    return deadline(hazards.transfers);
  }

  #acquire(band: Band, count: number, plannedFirst: number, consumer: Consumer): number[] {
    const settled: { forward: ForwardStep | null; fresh: number } = { forward: null, fresh: 0 };
    const reused = Math.min(count, band.holes.length + band.pendingPages);
    const pages = band.acquire(count, plannedFirst, settled);
    if (band.fixed.size > 0) this.counts.note(consumer, "fixed");
    if (band.uses.size === 0 && this.fences.list.length === 0) {
      this.scope.wait(settled.forward);
      return pages;
    }
    const hazards = new HazardSet(this.counts);
    hazards.settle(settled.forward);
    if (band.uses.size > 0)
      for (const page of pages) for (const use of band.usesAt(page)) hazards.add(consumer, use);
    if (count > reused) {
      const from = settled.fresh * band.plan.page_bytes;
      const to = (settled.fresh + count - reused) * band.plan.page_bytes;
      this.fences.eachUser(from, to, (user) => hazards.add(consumer, user));
    }
    hazards.clear(this.scope, this.ledger);
    return pages;
  }

  #relief(demand: readonly number[], consumer: Consumer): Relieved {
    return relieve(
      this.#context,
      demand,
      consumer,
      this.stages === null ? null : () => this.#realised(demand),
    );
  }

  /** Ends an operation: what its waits or its processing released goes back, the effects are handed over. */
  endOperation(): void {
    if (!this.steps.retiredSome && !this.ledger.endedSome) return;
    this.steps.retiredSome = false;
    this.ledger.endedSome = false;
    for (const band of this.bands) band.releaseVacated();
    this.fences.dropOver();
  }

  bandNamed(name: string): Band | undefined {
    return this.bands.find((band) => band.plan.name === name);
  }
}
