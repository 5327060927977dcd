// Relief: making room when a take does not fit as the bands stand. The plan is worked out before anything settles, on
// the bands as settling will leave them, so that a yes is a successful take.
//
// Two attempts: the first leaves every page that an unreleased transfer uses, or that a receive holds, where it is; only
// where no such layout exists may the second move them, waiting on the host for the transfers that it touches.
import { assert } from "../../base/assert.js";
import type { Band } from "./band.js";
import { PAGE } from "./band.js";
import type { Consumer } from "./clearance.js";
import { type CompactionContext, flushUrgent, requireGeometry } from "./compaction.js";
import { EndBand } from "./end-band.js";
import type { FenceList } from "./fences.js";
import { FloatBand } from "./float-band.js";
import type { ForwardStep } from "./forward-steps.js";
import { nothingFixed, packEnd, type IsFixed } from "./packing.js";
import {
  type BandSnapshot,
  type ByteRange,
  type ChainPlan,
  firstPlan,
  planNoMove,
} from "./pricing.js";
import { moveOrder, relocate, relocationMoves } from "./relocation.js";
import { newer } from "./signals.js";
import { isPlacedAnew, type ReliefPlan, touchedTransfers } from "./touched.js";

/** What relief needs beside the bands. @internal */
export interface ReliefContext extends CompactionContext {
  readonly bands: readonly Band[];
  readonly fences: FenceList;
  /** The bands as pricing sees them. */
  snapshot(): readonly BandSnapshot[];
  /** Places by band index that receives hold until they are published. */
  heldPlaces(): readonly (readonly number[])[];
}

/** Whether any page is fixed, or might be in the first attempt. @internal */
export function holdsAnything(context: ReliefContext): boolean {
  if (context.ledger.transfers.length > 0) return true;
  for (const band of context.bands) if (band.fixed.size > 0) return true;
  return context.heldPlaces().length > 0;
}

/** The plan that relief will follow, or null. Changes nothing. @internal */
export function planRelief(context: ReliefContext, demand: readonly number[]): ReliefPlan | null {
  const isHeld = holdsAnything(context);
  if (isHeld) {
    const fixed = networkFixed(context);
    const bands = settledSnapshots(context, fixed);
    const plan = firstPlan(bands, demand, context.fences.heldByTransfers());
    if (plan !== null) return { plan, fixed, movesTransfers: false };
  }
  const fixed = reservedFixed(context);
  const plan = firstPlan(settledSnapshots(context, fixed), demand);
  return plan && { plan, fixed, movesTransfers: isHeld };
}

/** What always stays: reservations. */
function reservedFixed(context: ReliefContext): readonly IsFixed[] {
  return context.bands.map((band): IsFixed =>
    band.fixed.size === 0 ? nothingFixed : (page) => band.fixed.has(page),
  );
}

/**
 * Whether a demand fits once `freed` pages a band came back. While nothing is fixed counts tell; else it is planned as
 * the take behind those frees would be. What is freed is a hole that lies nowhere: it moves no frontier and no edge, but
 * a float that it empties parks.
 *
 * @internal
 */
export function servesAfterFrees(
  context: ReliefContext,
  demand: readonly number[],
  freed: readonly number[],
): boolean {
  if (!holdsAnything(context))
    return firstPlan(credited(context.snapshot(), freed), demand) !== null;
  const blocked = context.fences.heldByTransfers();
  if (planNoMove(credited(context.snapshot(), freed), demand, blocked) !== null) return true;
  const plans = (fixed: readonly IsFixed[], avoided: readonly ByteRange[]): boolean => {
    const bands = credited(settledSnapshots(context, fixed), freed).map(parkedIfEmpty);
    return firstPlan(bands, demand, avoided) !== null;
  };
  return plans(networkFixed(context), blocked) || plans(reservedFixed(context), []);
}

function credited(
  bands: readonly BandSnapshot[],
  freed: readonly number[],
): readonly BandSnapshot[] {
  return bands.map((band, index) => {
    const pages = freed[index]!; // one number a band
    return { ...band, live: band.live - pages, free: band.free + pages };
  });
}

function parkedIfEmpty(band: BandSnapshot): BandSnapshot {
  const isEmpty = band.grow === "float" && band.live === 0 && band.pinned === 0;
  return isEmpty ? { ...band, spanFirst: band.pages, spanCount: 0, free: 0 } : band;
}

/** What stays in the first attempt: reservations, places of transfers, rows that a receive holds. */
function networkFixed(context: ReliefContext): readonly IsFixed[] {
  const held = context.heldPlaces();
  return context.bands.map((band): IsFixed => {
    const places = new Set(held[band.index] ?? []);
    return (page) =>
      band.fixed.has(page) ||
      places.has(page) ||
      band.usesAt(page).some((use) => use.kind === "transfer");
  });
}

/** The bands as settling, parking and absorbing leave them, with what stays. */
function settledSnapshots(
  context: ReliefContext,
  fixed: readonly IsFixed[],
): readonly BandSnapshot[] {
  return context.snapshot().map((snapshot, index) => {
    const band = context.bands[index]!; // one snapshot a band
    const isFixed = fixed[index]!;
    if (band instanceof FloatBand) return settledFloat(band, snapshot, isFixed);
    return band instanceof EndBand && isFixed !== nothingFixed
      ? pinnedEnd(band, snapshot, isFixed)
      : snapshot;
  });
}

function settledFloat(band: FloatBand, snapshot: BandSnapshot, isFixed: IsFixed): BandSnapshot {
  const pages = band.livePages();
  const first = pages[0] ?? band.plan.pages;
  const count = pages.length === 0 ? 0 : pages.at(-1)! + 1 - first;
  const pinned = isFixed !== nothingFixed && pages.some((page) => isFixed(page)) ? 1 : 0;
  return { ...snapshot, spanFirst: first, spanCount: count, free: count - band.live, pinned };
}

function pinnedEnd(band: EndBand, snapshot: BandSnapshot, isFixed: IsFixed): BandSnapshot {
  let pinned = 0;
  for (let distance = band.span - 1; distance >= 0 && pinned === 0; distance--) {
    const page = band.pageAt(distance);
    const status = band.status[page];
    if ((status === PAGE.live || status === PAGE.vacated) && isFixed(page)) pinned = distance + 1;
  }
  const kept = band.vacated.filter(({ page }) => isFixed(page)).length;
  return { ...snapshot, pinned, kept };
}

/** How many pages each band moves under a plan, as the bands stand. @internal */
export function plannedMoves(context: ReliefContext, { plan, fixed }: ReliefPlan): number[] {
  return context.bands.map((band, index) => {
    if (plan.step === "no_move") return 0;
    if (band instanceof EndBand) return packEnd(band, fixed[index]!).moves.length;
    if (!isPlacedAnew(band, plan, fixed[index]!)) return 0;
    return relocationMoves(band, plan.spans[index]![0]).length;
  });
}

/** What relief did: the plan it followed and the moves of each band. @internal */
export interface Relieved {
  readonly plan: ChainPlan;
  readonly moves: readonly number[];
}

/**
 * Urgent recovery: host reads first, then settle, park and absorb, plan again, wait for the transfers in the way, pack
 * the ends, place the floats.
 *
 * @param consumer - who writes the pages of the take first
 * @param replan - the plan on the settled bands where stages decide; null: planned here
 * @internal
 */
export function relieve(
  context: ReliefContext,
  demand: readonly number[],
  consumer: Consumer,
  replan: (() => ChainPlan) | null,
): Relieved {
  context.scope.emit(["hostread", "recovery"]);
  let newest: ForwardStep | null = null;
  for (const band of context.bands) newest = newer(newest, band.newestPending);
  context.scope.wait(newest);
  if (newest !== null) context.counts.relief("settle");
  for (const band of context.bands) while (band.pending.length > 0) band.settleOldest();
  const floats = context.bands.filter((band) => band instanceof FloatBand);
  for (const band of floats) {
    requireGeometry(band, context, "parking");
    if (band.parkIfEmpty()) context.counts.relief("park");
  }
  for (const band of floats) if (band.absorb() > 0) context.counts.relief("absorb");
  const planned =
    replan === null
      ? planRelief(context, demand)
      : { plan: replan(), fixed: context.bands.map(() => nothingFixed), movesTransfers: false };
  assert(planned !== null, "chain.relief_keeps_the_plan");
  const { plan, fixed } = planned;
  context.counts.relief(plan.step);
  if (holdsAnything(context))
    context.counts.relief(planned.movesTransfers ? "wait_transfers" : "keep_transfers");
  if (planned.movesTransfers) {
    const { transfers } = context.ledger;
    for (const touched of touchedTransfers(context.bands, transfers, planned, demand, consumer)) {
      for (const writer of touched.consumers) context.counts.note(writer, "network");
      context.ledger.hostWait(touched.transfer);
    }
  }
  const moves = context.bands.map(() => 0);
  if (plan.step === "no_move") return { plan, moves };
  for (const band of context.bands) {
    if (!(band instanceof EndBand) || (band.holes.length === 0 && band.vacated.length === 0))
      continue;
    moves[band.index] = flushUrgent(band, fixed[band.index]!, context);
  }
  const placed = floats.filter((band) => isPlacedAnew(band, plan, fixed[band.index]!));
  const order = moveOrder(placed.map((band) => ({ band, target: plan.spans[band.index]! })));
  for (const relocation of order) moves[relocation.band.index] = relocate(relocation, context);
  return { plan, moves };
}
