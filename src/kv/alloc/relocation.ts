// Relocation of floats into the blocks of a planned layout.
import type { MovePair } from "../../base/effects.js";
import { PAGE } from "./band.js";
import type { CompactionContext } from "./compaction.js";
import type { FloatBand } from "./float-band.js";
import type { PageSpan } from "./placement.js";
import { type ForwardStep } from "./forward-steps.js";
import { newer } from "./signals.js";

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
  const moves = relocationMoves(band, target[0]);
  const live = band.live;
  if (moves.length > 0) {
    const sources = new Set(moves.map(([source]) => source));
    const targets = new Set(moves.map(([, destination]) => destination));
    context.scope.wait(clearance(band, moves, sources, context));
    const readers = moves.map(([source]) => context.usage.readersOf(band, source));
    const isDisjoint = moves.every(([, destination]) => !sources.has(destination));
    const batches = isDisjoint ? [moves] : orderedSingles(moves);
    for (const batch of batches) {
      for (const [source, destination] of batch) {
        band.rebind(source, destination, context.steps.clock);
        band.status[source] = PAGE.beyond;
      }
      context.scope.emit(["move", band.plan.name, batch]);
      context.moved();
    }
    // What readers still hold of the old places leaves the band as fenced bytes; overwritten places were waited for.
    for (const [index, [source]] of moves.entries()) {
      const still = readers[index]!.filter((reader) => !reader.retired);
      if (still.length === 0 || targets.has(source)) continue;
      context.fences.add(source * band.plan.page_bytes, (source + 1) * band.plan.page_bytes, still);
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

/** The newest forward to be waited before the copies: writers of sources, readers of what is overwritten. */
function clearance(
  band: FloatBand,
  moves: readonly MovePair[],
  sources: ReadonlySet<number>,
  context: CompactionContext,
): ForwardStep | null {
  if (moves.some(([source]) => context.usage.isWritten(band, source)))
    return context.steps.newestUnretired;
  let newest: ForwardStep | null = null;
  for (const [, target] of moves) {
    const bytes = target * band.plan.page_bytes;
    newest = newer(newest, context.fences.newestReader(bytes, bytes + band.plan.page_bytes));
    if (sources.has(target))
      newest = newer(newest, context.usage.readersOf(band, target).at(-1) ?? null);
  }
  return newest;
}
