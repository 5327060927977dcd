// Relocation of floats into the blocks of a planned layout.
import type { MovePair } from "../../base/effects.js";
import { PAGE } from "./band.js";
import { HazardSet } from "./clearance.js";
import { type CompactionContext, requireGeometry } from "./compaction.js";
import type { FloatBand } from "./float-band.js";
import type { PageSpan } from "./placement.js";

/** One float and the block that a plan gives it. @internal */
export interface Relocation {
  readonly band: FloatBand;
  readonly target: PageSpan;
}

/**
 * The order in which no float is copied into bytes that another still holds: up-movers from the highest to the
 * lowest, then the others from the lowest to the highest. The chain's order is kept, so an up-mover's block can meet
 * only blocks above it that also move up, another's only blocks below it that do not: there is no cycle. @internal
 */
export function moveOrder(relocations: readonly Relocation[]): readonly Relocation[] {
  const isUp = ({ band, target }: Relocation): boolean => target[0] > band.low;
  const ups = relocations.filter((relocation) => isUp(relocation));
  return [...ups.reverse(), ...relocations.filter((relocation) => !isUp(relocation))];
}

/** Pairs that pack a float's live pages, in order, at the low end of a block; pages already in place are left out.
 * @internal */
export function relocationMoves(band: FloatBand, start: number): readonly MovePair[] {
  return band
    .livePages()
    .map((page, index): MovePair => [page, start + index])
    .filter(([source, target]) => source !== target);
}

/** Moves a float's live pages to the low end of its block, hole-free. Returns the number of moves. @internal */
export function relocate({ band, target }: Relocation, context: CompactionContext): number {
  requireGeometry(band, context, "relocation");
  const moves = relocationMoves(band, target[0]);
  const live = band.live;
  if (moves.length > 0) {
    const sources = new Set(moves.map(([source]) => source));
    const targets = new Set(moves.map(([, destination]) => destination));
    clearMoves(band, moves, sources, context);
    const readers = moves.map(([source]) => context.usage.readersOf(band, source));
    const isDisjoint = moves.every(([, destination]) => !sources.has(destination));
    const batches = isDisjoint ? [moves] : orderedSingles(moves);
    for (const batch of batches) {
      for (const [source, destination] of batch) {
        band.rebind(source, destination, context.steps.clock);
        band.status[source] = PAGE.hole; // until the span moves
      }
      context.scope.emit(["move", band.plan.name, batch]);
      context.moved(batch.length);
    }
    // What readers still hold of the old places leaves the band as fenced bytes; overwritten places were waited for.
    for (const [index, [source]] of moves.entries()) {
      if (targets.has(source)) continue;
      band.leave(
        source,
        readers[index]!.filter((reader) => !reader.retired), // one entry a move
      );
    }
  }
  band.moveSpan(target[0], target[0] + live);
  return moves.length;
}

/** An overlapping shift, one pair at a time: up-moves from the top, then down-moves from the bottom. */
function orderedSingles(moves: readonly MovePair[]): readonly (readonly MovePair[])[] {
  const ups = moves.filter(([source, target]) => target > source).reverse();
  const downs = moves.filter(([source, target]) => target < source);
  return [...ups, ...downs].map((pair) => [pair]);
}

/** Waits that the copies need: writers of sources, everybody who still uses what is overwritten. */
function clearMoves(
  band: FloatBand,
  moves: readonly MovePair[],
  sources: ReadonlySet<number>,
  context: CompactionContext,
): void {
  const hazards = new HazardSet(context.counts);
  const newest = context.steps.newestUnretired;
  const isWritten = moves.some(([source]) => context.usage.isWritten(band, source));
  if (newest !== null && isWritten) hazards.add("schedule_copy", newest);
  const size = band.plan.page_bytes;
  for (const [source, target] of moves) {
    for (const use of band.usesAt(source))
      if (use.direction === "in" || use.kind === "transfer") hazards.add("schedule_copy", use);
    for (const use of band.usesAt(target)) hazards.add("schedule_copy", use);
    if (sources.has(target))
      for (const reader of context.usage.readersOf(band, target))
        hazards.add("schedule_copy", reader);
    context.fences.eachUser(target * size, (target + 1) * size, (user) =>
      hazards.add("schedule_copy", user),
    );
  }
  hazards.clear(context.scope, context.ledger);
}
