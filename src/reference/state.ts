// The full state as `state` lines carry it (docs/trace-format.md, section 9).
import { toExtents } from "../base/extents.js";
import type { BandState, LedgerRecord, RowState, State } from "../base/state.js";
import { append, type Lists, pageLists } from "./answers.js";
import { sharedFences } from "./fences.js";
import { fixedByLoads } from "./fixed.js";
import { openForward } from "./forwards.js";
import { hostLists } from "./host-pool.js";
import { keepersOf, published, unretired } from "./signals.js";
import { inKeyOrder, isOnDevice, slotNames } from "./tree.js";
import {
  ascending,
  type Band,
  bandNamed,
  liveCount,
  type Place,
  PURPOSES,
  type Request,
  type Transfer,
  type TreeNode,
  type World,
} from "./world.js";

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
    ledger: ledgerOf(world),
    rows: Object.fromEntries(
      [...world.requests.values()].map((request) => [request.name, rowState(world, request)]),
    ),
    tree: inKeyOrder(world).map((node) => nodeState(world, node)),
    host: {
      free: hostLists(world, world.hostFree),
      copies: world.copies.map(({ name }) => name),
      loads: world.loads.map(({ name }) => name),
    },
    net: {
      transfers: Object.fromEntries(
        world.transfers.map((transfer) => [transfer.name, transferState(world, transfer)]),
      ),
    },
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
      readers: keepersOf(world, band, page),
    })),
    fixed: toExtents(fixedByLoads(world, band).sort(ascending)),
    bindings: bindingRuns(band),
    free_ids: toExtents(band.freeIds),
  };
}

// Runs in which id and page both ascend by one.
function bindingRuns(band: Band): [number, number, number][] {
  const runs: [number, number, number][] = [];
  for (const [id, page] of band.bindings.entries()) {
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

// What copies, transfers and forwards use; of a forward what it writes.
function ledgerOf(world: World): LedgerRecord[] {
  const ofForwards = unretired(world).flatMap((forward) =>
    Object.entries(forward.writes).map(([band, pages]) =>
      ledgerRecord("forward_writes", band, pages, forward.name),
    ),
  );
  const byBand = (use: string, signal: string, places: readonly Place[]): LedgerRecord[] =>
    world.bands
      .map(({ name }) => ({
        name,
        pages: places.filter(({ band }) => band === name).map(({ page }) => page),
      }))
      .filter(({ pages }) => pages.length > 0)
      .map(({ name, pages }) => ledgerRecord(use, name, pages, signal));
  const ofCopies = world.copies
    .filter((copy) => !copy.isWaited)
    .flatMap(({ direction, name, places }) =>
      byBand(direction === "out" ? "copy_read" : "copy_write", name, places),
    );
  const ofTransfers = published(world).flatMap(({ direction, name, places }) =>
    byBand(direction === "send" ? "network_read" : "network_write", name, places),
  );
  return [...ofForwards, ...ofCopies, ...ofTransfers];
}

function ledgerRecord(
  use: string,
  band: string,
  pages: readonly number[],
  signal: string,
): LedgerRecord {
  return { use, band, pages: toExtents([...new Set(pages)].sort(ascending)), signal };
}

function nodeState(world: World, node: TreeNode): Record<string, unknown> {
  const slots = slotNames(world).map((slot): [string, unknown] => {
    const pages = pagesOf(world, node, slot);
    const locks = world.locks.filter((lock) => lock.nodes[slot]?.includes(node.id)).length;
    const host = hostLists(world, node.host)[slot] ?? [];
    return [slot, { pages: toExtents(pages), locks, used: node.used[slot] ?? 0, host }];
  });
  return {
    key: node.labels,
    from: node.from,
    to: node.to,
    slots: Object.fromEntries(slots),
    copying: node.copying,
  };
}

function pagesOf(world: World, node: TreeNode, slot: string): number[] {
  if (!isOnDevice(world, node, slot)) return [];
  const band = bandNamed(world, slot);
  const ids = band.role === "state" ? [node.state ?? 0] : (node.ids ?? []);
  return ids.map((id) => band.bindings.get(id) ?? 0);
}

function transferState(world: World, transfer: Transfer): Record<string, unknown> {
  const waiting: Lists = {};
  for (const { band, id, transfers } of world.deferred)
    if (transfers.includes(transfer.name)) append(waiting, band, id);
  return {
    direction: transfer.direction,
    phase: transfer.isPublished ? "published" : "held",
    writers: transfer.writers,
    deferred: pageLists(world, waiting),
  };
}
