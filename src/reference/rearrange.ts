// Moving pages: the opportunistic flush of an end, the urgent one, and the relocation of a float.
import type { FlushedBand } from "../base/operations.js";
import type { MovePair } from "../base/effects.js";
import { packingMoves, shiftMoves } from "./packing.js";
import { absorbEdges, leaveSpan, rebind } from "./pages.js";
import {
  fencePage,
  fencesOfPage,
  readersOf,
  unretired,
  waitFor,
  writersOf,
  writesOne,
} from "./signals.js";
import { ascending, type Band, pendingCount, type World } from "./world.js";

const DEFAULT_MOVE_CAP = 4096;

/** One band's part of `chain.flush`. Waits no forward. @internal */
export function flushOpportunistic(world: World, band: Band): FlushedBand {
  if (band.grow === "float") return { moves: [], absorbed: absorbEdges(world, band) };
  band.holes.sort(ascending);
  const absorbed = absorbEdges(world, band);
  if (pendingCount(band) > 0) return { moves: [], absorbed };
  const running = unretired(world);
  const moves = packingMoves(
    band,
    band.holes,
    (page) => {
      if (band.reserved.includes(page)) return "stop";
      return running.some((forward) => writesOne(forward, band, [page])) ? "stop" : "move";
    },
    world.config.move_cap ?? DEFAULT_MOVE_CAP,
  );
  movePages(world, band, moves);
  return { moves, absorbed };
}

/** Packs an end as far as its fixed pages allow; its frontier retreats over all that is free. @internal */
export function flushUrgent(world: World, band: Band, fixed: readonly number[]): void {
  const free = [...band.holes, ...band.vacated.map((use) => use.page)];
  const moves = packingMoves(band, free, (page) => (fixed.includes(page) ? "skip" : "move"));
  movePages(world, band, moves);
  band.holes.sort(ascending);
  const isFree = (page: number): boolean =>
    band.holes.includes(page) || band.vacated.some((use) => use.page === page);
  if (band.grow === "up") {
    for (; band.high > band.low && isFree(band.high - 1); band.high -= 1)
      leaveSpan(world, band, [band.high - 1]);
  } else {
    for (; band.high > band.low && isFree(band.low); band.low += 1)
      leaveSpan(world, band, [band.low]);
  }
}

/** Brings a float's pages to a block from `start` on, without a hole; what it leaves stays guarded. @internal */
export function relocate(world: World, band: Band, start: number): void {
  leaveSpan(world, band, [...band.holes]);
  const batches = shiftMoves(band, start);
  const moves = batches.flat();
  const sources = moves.map(([from]) => from);
  const targets = moves.map(([, to]) => to);
  const signals = writersOf(world, band, sources);
  for (const page of targets) signals.push(...fencesOfPage(world, band, page));
  // A source that a later pair overwrites must have no reader left.
  for (const page of sources.filter((source) => targets.includes(source)))
    signals.push(...readersOf(world, band, page));
  waitFor(world, signals);
  const readers = sources.map((page) => readersOf(world, band, page));
  for (const batch of batches) issueMove(world, band, batch);
  sources.forEach((page, index) => {
    if (!targets.includes(page)) fencePage(world, band, page, readers[index]!); // one list a source
  });
  band.low = start;
  band.high = start + band.bindings.size + band.reserved.length;
}

// Moves inside an end: waits, the move, and what becomes of the sources.
function movePages(world: World, band: Band, moves: readonly MovePair[]): void {
  if (moves.length === 0) return;
  const sources = moves.map(([from]) => from);
  const targets = moves.map(([, to]) => to);
  const signals = writersOf(world, band, sources);
  for (const use of band.vacated) if (targets.includes(use.page)) signals.push(...use.readers);
  waitFor(world, signals);
  band.holes = band.holes.filter((page) => !targets.includes(page));
  band.vacated = band.vacated.filter((use) => !targets.includes(use.page));
  for (const page of sources) {
    const readers = readersOf(world, band, page);
    if (readers.length === 0) band.holes.push(page);
    else band.vacated.push({ page, readers });
  }
  issueMove(world, band, moves);
}

function issueMove(world: World, band: Band, moves: readonly MovePair[]): void {
  for (const [from, to] of moves) rebind(band, from, to);
  world.fx.push(["move", band.name, moves]);
  world.moveEpoch += 1;
}
