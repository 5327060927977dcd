// Compaction of an end: the opportunistic flush, which never waits for a forward, and the urgent one, which packs.
// In both the outermost live page goes to the hole nearest the base, until the two would cross.
import type { MovePair } from "../../base/effects.js";
import { type Band, PAGE } from "./band.js";
import { type ReachedCounts, HazardSet } from "./clearance.js";
import type { EndBand } from "./end-band.js";
import type { FenceList } from "./fences.js";
import type { ForwardSteps } from "./forward-steps.js";
import type { Invariants } from "./invariants.js";
import type { Ledger } from "./ledger.js";
import { type IsFixed, packEnd } from "./packing.js";
import type { PageUsage } from "./page-usage.js";
import type { EffectScope, Signal } from "./signals.js";

/** What compaction needs of the chain. @internal */
export interface CompactionContext {
  readonly steps: ForwardSteps;
  readonly usage: PageUsage;
  readonly fences: FenceList;
  readonly ledger: Ledger;
  readonly counts: ReachedCounts;
  readonly invariants: Invariants;
  readonly scope: EffectScope;
  /** Called once for each `move` effect. */
  moved(pages: number): void;
}

/** Absorbs boundary holes, then moves up to `capPages` pages without waiting for any forward. @internal */
export function flushOpportunistic(
  band: EndBand,
  capPages: number,
  context: CompactionContext,
): { readonly moves: readonly MovePair[]; readonly absorbed: number } {
  const absorbed = band.absorb();
  // The frontier never moves past a pending page, and unknown writes may hit any page.
  if (band.holes.length === 0 || band.pending.length > 0 || context.usage.hasUnknownWrites) {
    return { moves: [], absorbed };
  }
  const moves: MovePair[] = [];
  const readers: (readonly Signal[])[] = [];
  const hazards = new HazardSet(context.counts);
  let distance = band.span - 1;
  while (moves.length < capPages && band.holes.length > 0) {
    while (distance >= 0 && band.status[band.pageAt(distance)] !== PAGE.live) distance -= 1;
    const target = band.isUp ? band.holes.at(0) : band.holes.at(band.holes.length - 1);
    if (distance <= band.distanceOf(target)) break;
    const source = band.pageAt(distance);
    if (mayNotMove(band, source, context)) break;
    if (band.isUp) band.holes.shift();
    else band.holes.pop();
    readers.push(readersLeft(band, source, context));
    // Copies may be waited: they run beside the forwards and end by themselves.
    for (const use of band.usesAt(source))
      if (use.kind === "copy" && use.direction === "in") hazards.add("schedule_copy", use);
    for (const use of band.usesAt(target)) hazards.add("schedule_copy", use);
    moves.push([source, target]);
    distance -= 1;
  }
  if (moves.length === 0) return { moves, absorbed };
  hazards.clear(context.scope, context.ledger);
  for (const [source, target] of moves) band.rebind(source, target, context.steps.clock);
  // Only now may sources join the list: destinations were taken from its sorted end.
  for (const [index, [source]] of moves.entries()) {
    const still = readers[index]!; // one entry a move
    if (still.length === 0) band.addHole(source);
    else band.addVacated(source, still);
  }
  context.scope.emit(["move", band.plan.name, moves]);
  context.moved(moves.length);
  return { moves, absorbed };
}

/** Whether an opportunistic flush stops at this source: fixed, written by an unfinished forward or by a peer. */
function mayNotMove(band: EndBand, page: number, context: CompactionContext): boolean {
  if (band.fixed.has(page)) {
    context.counts.note("schedule_copy", "fixed");
    return true;
  }
  if (context.usage.isWritten(band, page)) return true;
  return band.usesAt(page).some((use) => use.kind === "transfer" && use.direction === "receive");
}

/** Who keeps the old bytes of a moved page from being a hole at once: forwards and sends. A copy alone stays as a fence
 * on the hole. */
function readersLeft(band: EndBand, page: number, context: CompactionContext): readonly Signal[] {
  const forwards = context.usage.readersOf(band, page);
  const uses = band.usesAt(page);
  if (uses.length === 0) return forwards;
  return [...forwards, ...uses.filter((use) => use.kind === "transfer")];
}

/** Packs every live page that may move towards the base; pending pages have settled, and transfers that this touches
 * were waited on the host. Returns the number of moves. @internal */
export function flushUrgent(band: EndBand, isFixed: IsFixed, context: CompactionContext): number {
  requireGeometry(band, context, "urgent compaction");
  const { moves, span } = packEnd(band, isFixed);
  if (moves.length > 0) clearMoves(band, moves, context);
  const readers = moves.map(([source]) => context.usage.readersOf(band, source));
  const targets = new Set(moves.map(([, target]) => target));
  for (const [source, target] of moves) band.rebind(source, target, context.steps.clock);
  band.holes.sort();
  const holes = band.holes.toArray();
  band.holes.clear();
  for (const [index, [source]] of moves.entries()) disposeOf(band, source, span, readers[index]!);
  // Vacated destinations are live now; those past the frontier leave their readers on the bytes.
  for (const { page, readers: by } of band.dropVacated(
    ({ page }) => !targets.has(page) && band.distanceOf(page) < span,
  )) {
    if (!targets.has(page)) band.leave(page, by);
  }
  // With fixed pages holes may stay inside; a hole past the frontier leaves the band.
  const inside = holes.filter((page) => !targets.has(page) && band.distanceOf(page) < span);
  for (const page of holes)
    if (!targets.has(page) && band.distanceOf(page) >= span) band.leave(page);
  for (const [source] of moves)
    if (band.distanceOf(source) < span && band.status[source] === PAGE.hole) inside.push(source);
  band.holes.replace(inside.sort((left, right) => left - right));
  band.span = span;
  band.epoch += 1;
  if (moves.length > 0) {
    context.scope.emit(["move", band.plan.name, moves]);
    context.moved(moves.length);
  }
  return moves.length;
}

/** Layout-changing work sees a band without pending pages. @internal */
export function requireGeometry(
  band: Band,
  context: Pick<CompactionContext, "invariants">,
  work: string,
): void {
  context.invariants.check(
    band.pendingPages === 0,
    "band.geometry_ready",
    `${work} of ${band.plan.name} with pending pages`,
  );
}

/** A moved-out source past the frontier leaves the band; inside, behind a fixed page, it is vacated or a hole. */
function disposeOf(band: EndBand, source: number, span: number, by: readonly Signal[]): void {
  const still = by.filter((reader) => reader.kind === "forward" && !reader.retired);
  if (band.distanceOf(source) >= span) band.leave(source, still);
  else if (still.length > 0) band.addVacated(source, still);
  else band.status[source] = PAGE.hole; // listed by the caller
}

/** Waits that moves need: writers of their sources, everybody who still uses their destinations. */
function clearMoves(band: EndBand, moves: readonly MovePair[], context: CompactionContext): void {
  const hazards = new HazardSet(context.counts);
  const newest = context.steps.newestUnretired;
  const vacated = new Map(band.vacated.map(({ page, readers }) => [page, readers]));
  for (const [source, target] of moves) {
    if (newest !== null && context.usage.isWritten(band, source))
      hazards.add("schedule_copy", newest);
    for (const use of band.usesAt(source))
      if (use.direction === "in" || use.kind === "transfer") hazards.add("schedule_copy", use);
    for (const use of band.usesAt(target)) hazards.add("schedule_copy", use);
    for (const reader of vacated.get(target) ?? []) hazards.add("schedule_copy", reader);
  }
  hazards.clear(context.scope, context.ledger);
}
