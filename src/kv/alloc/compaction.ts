// Compaction of an end: the opportunistic flush, which never waits for a forward, and the urgent one, which packs.
// In both the outermost live page goes to the hole nearest the base, until the two would cross.
import type { MovePair } from "../../base/effects.js";
import { PAGE } from "./band.js";
import type { EndBand } from "./end-band.js";
import type { FenceList } from "./fences.js";
import type { ForwardStep, ForwardSteps } from "./forward-steps.js";
import type { PageUsage } from "./page-usage.js";
import { type EffectScope, newer } from "./signals.js";

/** What compaction needs of the chain. @internal */
export interface CompactionContext {
  readonly steps: ForwardSteps;
  readonly usage: PageUsage;
  readonly fences: FenceList;
  readonly scope: EffectScope;
  /** Called once for each `move` effect. */
  moved(): void;
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
  const readers: (readonly ForwardStep[])[] = [];
  let distance = band.span - 1;
  while (moves.length < capPages && band.holes.length > 0) {
    while (distance >= 0 && band.status[band.pageAt(distance)] !== PAGE.live) distance -= 1;
    const target = band.isUp ? band.holes.at(0) : band.holes.at(band.holes.length - 1);
    if (distance <= band.distanceOf(target)) break;
    const source = band.pageAt(distance);
    if (context.usage.isWritten(band, source)) break;
    if (band.isUp) band.holes.shift();
    else band.holes.pop();
    readers.push(context.usage.readersOf(band, source));
    moves.push([source, target]);
    distance -= 1;
  }
  if (moves.length === 0) return { moves, absorbed };
  for (const [source, target] of moves) band.rebind(source, target, context.steps.clock);
  // Only now may sources join the list: destinations were taken from its sorted end.
  for (const [index, [source]] of moves.entries()) {
    const still = readers[index]!; // one entry a move
    if (still.length === 0) band.addHole(source);
    else band.addVacated(source, still);
  }
  context.scope.emit(["move", band.plan.name, moves]);
  context.moved();
  return { moves, absorbed };
}

/** How many moves packing an end takes: free pages nearer the base than the packed frontier. @internal */
export function packingMoves(band: EndBand): number {
  let moves = 0;
  const inside = (page: number): void => {
    if (band.distanceOf(page) < band.live) moves += 1;
  };
  for (let index = 0; index < band.holes.length; index++) inside(band.holes.at(index));
  for (const batch of band.pending) for (const page of batch.pages) inside(page);
  for (const { page } of band.vacated) inside(page);
  return moves;
}

/** Packs every live page towards the base; pending pages have settled. Returns the number of moves. @internal */
export function flushUrgent(band: EndBand, context: CompactionContext): number {
  const packed = band.live;
  const { targets, guards } = freeInside(band, packed);
  const moves: MovePair[] = [];
  let written = false;
  let distance = band.span - 1;
  for (const target of targets) {
    while (band.status[band.pageAt(distance)] !== PAGE.live) distance -= 1;
    const source = band.pageAt(distance);
    written ||= context.usage.isWritten(band, source);
    moves.push([source, target]);
    distance -= 1;
  }
  if (moves.length > 0) {
    let wait = written ? context.steps.newestUnretired : null;
    for (const guard of guards) if (!guard.retired) wait = newer(wait, guard);
    context.scope.wait(wait);
  }
  const readers = moves.map(([source]) => context.usage.readersOf(band, source));
  for (const [source, target] of moves) {
    band.rebind(source, target, context.steps.clock);
    band.status[source] = PAGE.beyond;
  }
  retreat(band, packed, moves, readers, context.fences);
  if (moves.length > 0) {
    context.scope.emit(["move", band.plan.name, moves]);
    context.moved();
  }
  return moves.length;
}

/** Free pages inside the packed span, from the base outwards, and the readers of the vacated ones among them. */
function freeInside(band: EndBand, packed: number): { targets: number[]; guards: ForwardStep[] } {
  const targets: number[] = [];
  const guards: ForwardStep[] = [];
  for (let index = 0; index < band.holes.length; index++) {
    const page = band.holes.at(index);
    if (band.distanceOf(page) < packed) targets.push(page);
  }
  for (const { page, readers } of band.vacated) {
    if (band.distanceOf(page) >= packed) continue;
    targets.push(page);
    guards.push(...readers);
  }
  targets.sort((left, right) => band.distanceOf(left) - band.distanceOf(right));
  return { targets, guards };
}

/** Ends the urgent flush: no hole is left, and bytes past the frontier that are still read become fences. */
function retreat(
  band: EndBand,
  packed: number,
  moves: readonly MovePair[],
  readers: readonly (readonly ForwardStep[])[],
  fences: FenceList,
): void {
  const fence = (page: number, by: readonly ForwardStep[]): void => {
    const unretired = by.filter((reader) => !reader.retired);
    if (unretired.length > 0) {
      fences.add(page * band.plan.page_bytes, (page + 1) * band.plan.page_bytes, unretired);
    }
  };
  for (const [index, [source]] of moves.entries()) fence(source, readers[index]!); // one entry a move
  for (const { page, readers: by } of band.dropVacated(() => false)) {
    if (band.distanceOf(page) < packed) continue; // a destination now
    band.status[page] = PAGE.beyond;
    fence(page, by);
  }
  for (let index = 0; index < band.holes.length; index++) {
    const page = band.holes.at(index);
    if (band.status[page] === PAGE.hole) band.status[page] = PAGE.beyond;
  }
  band.holes.clear();
  band.span = packed;
  band.epoch += 1;
}
