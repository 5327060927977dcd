// Moving pages: the opportunistic flush of an end, the urgent one, and the relocation of a float.
import type { MovePair } from "../base/effects.js";
import type { FlushedBand } from "../base/operations.js";
import { fixedByLoads, heldPages } from "./fixed.js";
import { packingMoves, shiftMoves } from "./packing.js";
import { absorbEdges, leaveSpan, rebind } from "./pages.js";
import {
  fencePage,
  fencesOfPage,
  keepersOf,
  transfersOn,
  unretired,
  type Urgency,
  usersOf,
  waitFor,
  writersOf,
  writesOne,
} from "./signals.js";
import { ascending, type Band, liveCount, pendingCount, type World } from "./world.js";

const DEFAULT_MOVE_CAP = 4096;

/** One band's part of `chain.flush`. Waits no forward and no transfer. @internal */
export function flushOpportunistic(world: World, band: Band): FlushedBand {
  if (heldPages(world, band).length > 0) return { moves: [], absorbed: 0 };
  if (band.grow === "float") return { moves: [], absorbed: absorbEdges(world, band) };
  band.holes.sort(ascending);
  const absorbed = absorbEdges(world, band);
  if (pendingCount(band) > 0) return { moves: [], absorbed };
  const stops = (page: number): boolean =>
    fixedByLoads(world, band).includes(page) ||
    unretired(world).some((forward) => writesOne(forward, band, [page])) ||
    transfersOn(world, band, page, ["receive"]).length > 0;
  const cap = world.config.move_cap ?? DEFAULT_MOVE_CAP;
  const moves = packingMoves(band, band.holes, (page) => (stops(page) ? "stop" : "move"), cap);
  movePages(world, band, moves, "opportunistic");
  return { moves, absorbed };
}

/**
 * Packs an end around `fixed`, its live pages that stay and the vacated ones whose readers are not waited; its
 * frontier retreats over all that is free. @internal
 */
export function flushUrgent(world: World, band: Band, fixed: readonly number[]): void {
  const staying = (page: number): boolean => fixed.includes(page);
  const free = [...band.holes, ...band.vacated].filter((page) => !staying(page));
  const moves = packingMoves(band, free, (page) => (staying(page) ? "skip" : "move"));
  movePages(world, band, moves, "urgent");
  band.holes.sort(ascending);
  const isFree = (page: number): boolean =>
    !staying(page) && (band.holes.includes(page) || band.vacated.includes(page));
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
  const targets = new Set(moves.map(([, to]) => to));
  const signals = writersOf(world, band, sources, "urgent");
  for (const page of targets) signals.push(...fencesOfPage(world, band, page));
  // A source that a later pair overwrites must have no reader left.
  for (const page of sources.filter((source) => targets.has(source)))
    signals.push(...usersOf(world, band, page));
  waitFor(world, signals);
  const users = sources.map((page) => usersOf(world, band, page));
  for (const batch of batches) issueMove(world, band, batch);
  sources.forEach((page, index) => {
    if (!targets.has(page)) fencePage(world, band, page, users[index]!); // one list a source
  });
  band.low = start;
  band.high = start + liveCount(band);
}

// Moves inside an end: waits, the move, and what becomes of the sources.
function movePages(world: World, band: Band, moves: readonly MovePair[], urgency: Urgency): void {
  if (moves.length === 0) return;
  const sources = moves.map(([from]) => from);
  const targets = moves.map(([, to]) => to);
  const signals = writersOf(world, band, sources, urgency);
  for (const page of targets) signals.push(...usersOf(world, band, page));
  waitFor(world, signals);
  const filled = new Set(targets);
  band.holes = band.holes.filter((page) => !filled.has(page));
  band.vacated = band.vacated.filter((page) => !filled.has(page));
  issueMove(world, band, moves);
  // What only a host copy still reads is a hole at once; its next writer waits the copy.
  for (const page of sources) {
    if (keepersOf(world, band, page).length === 0) band.holes.push(page);
    else band.vacated.push(page);
  }
}

function issueMove(world: World, band: Band, moves: readonly MovePair[]): void {
  rebind(band, moves);
  world.fx.push(["move", band.name, moves]);
  world.moveEpoch += 1;
}
