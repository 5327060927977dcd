// The full state as `state` lines carry it (docs/trace-format.md, section 9).
import { toExtents } from "../base/extents.js";
import type { BandState, RowState, State } from "../base/state.js";
import { sharedFences } from "./fences.js";
import { fixedByLoads } from "./fixed.js";
import { openForward } from "./forwards.js";
import { unretired, usersOf } from "./signals.js";
import { ascending, type Band, liveCount, PURPOSES, type Request, type World } from "./world.js";

/** @internal */
export function stateOf(world: World): State {
  const bands = Object.fromEntries(world.bands.map((band) => [band.name, bandState(world, band)]));
  return {
    ...bands,
    chain: {
      move_epoch: world.moveEpoch,
      fences: sharedFences(world).map(({ from, to, readers }) => ({
        bytes: [from, to],
        signals: readers,
      })),
    },
    forwards: {
      unprocessed: world.forwards.filter(({ isRecorded }) => isRecorded).map(({ name }) => name),
      retired: world.retired,
      open: openForward(world)?.name ?? null,
    },
    ledger: unretired(world).flatMap((forward) =>
      Object.entries(forward.writes).map(([band, pages]) => ({
        use: "FORWARD",
        band,
        pages: toExtents([...new Set(pages)].sort(ascending)),
        signal: forward.name,
      })),
    ),
    rows: Object.fromEntries(
      [...world.requests.values()].map((request) => [request.name, rowState(world, request)]),
    ),
    tree: world.tree.map(({ labels: _, ...node }) => node),
    host: { free: world.hostFree, copies: world.copies.map(({ name }) => name) },
    net: { transfers: world.transfers },
  };
}

function bandState(world: World, band: Band): BandState {
  return {
    span: [band.low, band.high - band.low],
    live: liveCount(band),
    holes: toExtents(band.holes),
    pending: band.pending.map(({ key, pages }) => ({ key, pages: toExtents(pages) })),
    vacated: band.vacated.map((page) => ({
      pages: [[page, 1]],
      readers: usersOf(world, band, page),
    })),
    fixed: toExtents(fixedByLoads(world, band).sort(ascending)),
    bindings: bindingRuns(band),
    free_ids: toExtents(band.freeIds),
  };
}

// Runs in which id and page both ascend by one.
function bindingRuns(band: Band): [number, number, number][] {
  const runs: [number, number, number][] = [];
  for (const [id, page] of [...band.bindings].sort((left, right) => left[0] - right[0])) {
    const last = runs.at(-1);
    if (last !== undefined && id === last[0] + last[2] && page === last[1] + last[2]) last[2] += 1;
    else runs.push([id, page, 1]);
  }
  return runs;
}

function rowState(world: World, request: Request): RowState {
  const slots = PURPOSES.filter((purpose) => request.slots[purpose].length > 0);
  return {
    row: request.row,
    allocated: request.allocated,
    protected: request.protected,
    cursors: { ...request.cursors },
    checkpoint: request.checkpoint,
    slots: Object.fromEntries(slots.map((purpose) => [purpose, toExtents(request.slots[purpose])])),
    reset: world.marked.includes(request.row),
  };
}
