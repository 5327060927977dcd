// Component digests, worked out from the whole content each time (docs/trace-format.md, section 8).
import { foldDigests, hashName, hexOf, LaneSum } from "../base/digest.js";
import type { DigestDepth } from "../base/operations.js";
import { FIXED_COMPONENTS } from "../base/operations.js";
import { addWeighted } from "./digest-list.js";
import { addHost, addTree } from "./digest-tree.js";
import { sharedFences } from "./fences.js";
import { fixedByLoads } from "./fixed.js";
import { openForward } from "./forwards.js";
import { keepersOf, published, unretired } from "./signals.js";
import {
  type Band,
  hasOverlap,
  liveCount,
  pendingCount,
  PURPOSES,
  type Request,
  type World,
} from "./world.js";

/** Hash by component, in the order in which digests are written. @internal */
export function componentDigests(world: World, depth: DigestDepth): Map<string, string> {
  const isFull = depth !== "light";
  const digests = new Map<string, string>();
  for (const band of world.bands) digests.set(band.name, bandDigest(world, band, isFull));
  for (const name of FIXED_COMPONENTS) {
    const sum = new LaneSum();
    if (name === "chain") addChain(sum, world, isFull);
    if (name === "forwards") addForwards(sum, world, isFull);
    if (name === "ledger") addLedger(sum, world, isFull);
    if (name === "rows") addRows(sum, world, isFull);
    if (name === "tree") addTree(sum, world, isFull);
    if (name === "host") addHost(sum, world, isFull);
    if (name === "net") addTransfers(sum, world, isFull);
    digests.set(name, hexOf(sum.a, sum.b));
  }
  return digests;
}

/** Of the end of a run. @internal */
export function foldedDigest(world: World, depth: DigestDepth): string {
  return foldDigests(componentDigests(world, depth).values());
}

function bandDigest(world: World, band: Band, isFull: boolean): string {
  const sum = new LaneSum();
  sum.add(1, 0, band.low);
  sum.add(2, 0, band.high - band.low);
  sum.add(3, 0, liveCount(band));
  sum.add(4, 0, band.holes.length);
  sum.add(5, 0, pendingCount(band));
  sum.add(6, 0, band.vacated.length);
  if (band.role !== "window") sum.add(8, 0, band.freeIds.length);
  const fixed = fixedByLoads(world, band);
  if (fixed.length > 0) sum.add(7, 0, fixed.length);
  if (!isFull) return hexOf(sum.a, sum.b);
  band.holes.forEach((page, index) => {
    addWeighted(sum, 16, index, page);
  });
  for (const page of fixed) sum.add(21, page, 1);
  band.bindings.forEach((id, page) => {
    sum.add(17, id, page);
  });
  for (const { key, pages } of band.pending) {
    pages.forEach((page, index) => {
      sum.add(0x120000 + hashName(key), index, page);
    });
  }
  for (const page of band.vacated)
    sum.add(19, page, hashName(keepersOf(world, band, page).at(-1) ?? ""));
  return hexOf(sum.a, sum.b);
}

function addChain(sum: LaneSum, world: World, isFull: boolean): void {
  const fences = sharedFences(world);
  sum.add(1, 0, world.moveEpoch);
  sum.add(2, 0, fences.length);
  if (!isFull) return;
  fences.forEach(({ from, to, readers }, index) => {
    sum.add(16, index, from);
    sum.add(17, index, to);
    for (const reader of readers) sum.add(18, index, hashName(reader));
  });
}

function addForwards(sum: LaneSum, world: World, isFull: boolean): void {
  const unprocessed = world.forwards.filter((forward) => forward.isRecorded);
  const open = openForward(world);
  sum.add(1, 0, unprocessed.length);
  sum.add(2, 0, open === null ? 0 : 1);
  if (!isFull) return;
  unprocessed.forEach((forward, index) => {
    sum.add(16, index, hashName(forward.name));
  });
  if (world.retired !== null) sum.add(17, 0, hashName(world.retired));
  if (open !== null) sum.add(18, 0, hashName(open.name));
}

function addLedger(sum: LaneSum, world: World, isFull: boolean): void {
  const running = hasOverlap(world) ? unretired(world) : [];
  const copies = world.copies.filter((copy) => !copy.isWaited);
  const transfers = published(world);
  sum.add(1, 0, running.length);
  if (copies.length > 0) sum.add(2, 0, copies.length);
  if (transfers.length > 0) sum.add(3, 0, transfers.length);
  if (!isFull) return;
  copies.forEach(({ name }, place) => {
    sum.add(18, place, hashName(name));
  });
  transfers.forEach(({ name }, place) => {
    sum.add(19, place, hashName(name));
  });
  for (const forward of running)
    sum.add(forward.hasUnknownWrites ? 17 : 16, 0, hashName(forward.name));
}

function addRows(sum: LaneSum, world: World, isFull: boolean): void {
  sum.add(1, 0, world.requests.size);
  if (!isFull) return;
  for (const request of world.requests.values()) addRow(sum, world, request);
}

function addRow(sum: LaneSum, world: World, request: Request): void {
  const { row } = request;
  sum.add(16, row, hashName(request.name));
  sum.add(17, row, request.allocated);
  sum.add(18, row, request.protected);
  sum.add(19, row, world.marked.includes(row) ? 1 : 0);
  sum.add(20, row, request.checkpoint === null ? 0 : request.checkpoint + 1);
  sum.add(21, row, request.ring);
  PURPOSES.forEach((purpose, place) => {
    request.slots[purpose].forEach((slot, index) => {
      sum.add(24 + place, row * 65536 + index, slot);
    });
  });
  request.slots.track.forEach((slot, index) => {
    const tracked = request.tracked.find((entry) => entry.slot === slot);
    if (tracked !== undefined) sum.add(28, row * 65536 + index, tracked.len);
  });
  world.bands.forEach((band, place) => {
    sum.add(64 + place, row, request.cursors[band.name] ?? 0);
  });
}

function addTransfers(sum: LaneSum, world: World, isFull: boolean): void {
  if (world.transfers.length === 0) return;
  sum.add(1, 0, world.transfers.length);
  if (!isFull) return;
  for (const transfer of world.transfers) {
    const { serial } = transfer;
    sum.add(16, serial, hashName(transfer.name));
    sum.add(17, serial, transfer.isPublished ? 1 : 0);
    sum.add(18, serial, transfer.writers.length);
    sum.add(19, serial, transfer.epoch);
    sum.add(20, serial, transfer.isStalled ? 1 : 0);
    sum.add(21, serial, transfer.firstPage);
    sum.add(22, serial, transfer.endPage);
  }
}
