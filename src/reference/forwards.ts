// Forwards: launched, recorded, processed in launch order. Their uses are noted as places at the launch.
import type { ForwardEntry, KvArgs, KvOk } from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { append, type Lists, pageLists, appendAll } from "./answers.js";
import { fixedByLoads } from "./fixed.js";
import { Faults, invalid } from "./refusal.js";
import { placeOf } from "./rows.js";
import { copiesOn, retireThrough, transfersOn, waitFor } from "./signals.js";
import { hostWait } from "./take.js";
import {
  type Forward,
  hasOverlap,
  type Request,
  stateBandOf,
  tokenBandsOf,
  type World,
} from "./world.js";
import { append as appendTo } from "../base/append.js";

/** Whether a forward is launched and not recorded yet. @internal */
export function openForward(world: World): Forward | null {
  if (!hasOverlap(world)) return null;
  return world.forwards.find((forward) => !forward.isPrebuilt && !forward.isRecorded) ?? null;
}

/** No page is handed out or freed between a launch and its record: there would be no event to wait for. @internal */
export function checkBetween(world: World, faults: Faults): void {
  if (openForward(world) !== null) faults.add("take_between_launch_and_record");
}

/** The same where it is the only rule left. @internal */
export function checkNow(world: World): void {
  if (openForward(world) !== null) invalid("take_between_launch_and_record");
}

/** @internal */
export function launch(
  world: World,
  { step, batch, mode }: KvArgs["forward.launch"],
): KvOk["forward.launch"] {
  const faults = new Faults();
  for (const { req, from, to, track } of batch) {
    const request = world.requests.get(req);
    if (request === undefined) {
      faults.add("unknown_request", { req });
      continue;
    }
    if (to > request.allocated || to < from) faults.add("beyond_row", { req });
    if (track !== undefined && request.slots.track.length === 0)
      faults.add("nothing_tracked", { req });
  }
  const isPrebuilt = mode === "prebuilt";
  if (openForward(world) !== null) faults.add("launch_open");
  if (world.forwards.some(({ name }) => name === step)) faults.add("name_state");
  faults.check();
  for (const entry of batch) {
    if (readsReserved(world, entry)) invalid("name_state", { req: entry.req });
  }
  const { reads, writes } = usesOf(world, batch);
  if (!isPrebuilt) clearUses(world, reads, writes);
  world.forwards.push({
    name: step,
    isPrebuilt,
    isRecorded: false,
    hasUnknownWrites: false,
    isRetired: false,
    reads,
    writes,
  });
  if (isPrebuilt) return { resets: [] };
  const resets = toExtents(world.marked);
  if (world.marked.length > 0) world.fx.push(["reset", resets]);
  world.marked = [];
  world.fx.push(["forward", step]);
  return { resets };
}

// Whether an entry reads what a load that is not submitted will bring.
function readsReserved(world: World, { req, to, track }: ForwardEntry): boolean {
  const request = world.requests.get(req)!; // checked by the launch
  const count = Math.ceil(to / world.config.page_size);
  return world.bands.some((band) => {
    const fixed = fixedByLoads(world, band);
    if (fixed.length === 0) return false;
    if (band.role !== "state")
      return request.virtual
        .slice(0, count)
        .some((_, page) => fixed.includes(placeOf(world, request, band, page)));
    const current = track === undefined ? [] : request.slots.track.slice(request.ring).slice(0, 1);
    const slots = [...request.slots.main.slice(0, 1), ...current];
    return slots.some((slot) => fixed.includes(band.bindings.get(slot) ?? 0));
  });
}

// Waits what writes the pages that it reads, and all that uses the pages it writes: transfers on the host, then copies.
function clearUses(world: World, reads: Lists, writes: Lists): void {
  const transfers: string[] = [];
  const copies: string[] = [];
  for (const band of world.bands) {
    for (const page of reads[band.name] ?? []) {
      transfers.push(...transfersOn(world, band, page, ["receive"]));
      copies.push(...copiesOn(world, band, page, ["in"]));
    }
    for (const page of writes[band.name] ?? []) {
      transfers.push(...transfersOn(world, band, page));
      copies.push(...copiesOn(world, band, page));
    }
  }
  hostWait(world, transfers);
  waitFor(world, copies);
}

// Rows [0, to) are read, [from, to) written, in every band; so are the main slot and the tracked one.
function usesOf(world: World, batch: readonly ForwardEntry[]): { reads: Lists; writes: Lists } {
  const { page_size: pageSize } = world.config;
  const reads: Lists = {};
  const writes: Lists = {};
  const state = stateBandOf(world);
  for (const { req, from, to, track } of batch) {
    const request = world.requests.get(req)!; // checked by the launch
    for (const band of tokenBandsOf(world)) {
      for (let page = 0; page < Math.ceil(to / pageSize); page++) {
        const place = placeOf(world, request, band, page);
        if (place === 0) continue;
        append(reads, band.name, place);
        if (page >= Math.floor(from / pageSize) && from < to) append(writes, band.name, place);
      }
    }
    if (state === null) continue;
    for (const slot of slotsOf(request, track)) {
      append(reads, state.name, state.bindings.get(slot)!); // slots of requests are bound
      append(writes, state.name, state.bindings.get(slot)!);
    }
  }
  return { reads, writes };
}

// The slots that a forward uses; tracking advances the ring.
function slotsOf(request: Request, track: number | undefined): number[] {
  const used = request.slots.main.slice(0, 1);
  if (track === undefined) return used;
  const slot = request.slots.track[request.ring]!; // checked by the launch
  request.tracked = [
    ...request.tracked.filter((entry) => entry.slot !== slot),
    { slot, len: track },
  ];
  request.ring = (request.ring + 1) % request.slots.track.length;
  return [...used, slot];
}

/** @internal */
export function record(
  world: World,
  { step, writes }: KvArgs["forward.record"],
): Record<string, never> {
  const forward = world.forwards.find(({ name }) => name === step);
  if (forward?.isPrebuilt === true) invalid("record_of_prebuilt");
  if (forward === undefined || forward.isRecorded) invalid("name_state");
  if (!hasOverlap(world)) return {};
  forward.isRecorded = true;
  forward.hasUnknownWrites = writes === "unknown";
  world.fx.push(["event", step]);
  return {};
}

/** @internal */
export function barrier(world: World, { step }: KvArgs["forward.barrier"]): Record<string, never> {
  const forward = world.forwards.find(({ name }) => name === step);
  if (forward === undefined || (hasOverlap(world) && !forward.isRecorded)) invalid("name_state");
  // Without overlap the forward runs on the schedule stream, and nothing is left to wait for.
  if (hasOverlap(world)) world.fx.push(["barrier", step]);
  return {};
}

/** @internal */
export function process(
  world: World,
  { step }: KvArgs["forward.process"],
): KvOk["forward.process"] {
  const at = world.forwards.findIndex(({ name }) => name === step);
  // A step without a forward of its own is inert: it advances nothing, and nothing waits for it.
  if (world.forwards[at]?.isPrebuilt === true) {
    world.forwards.splice(at, 1);
    return { released: pageLists(world, {}) };
  }
  const forward = world.forwards.find(({ isPrebuilt }) => !isPrebuilt);
  if (forward?.name !== step) invalid("process_out_of_order");
  if (hasOverlap(world) && !forward.isRecorded) invalid("process_out_of_order");
  retireThrough(world, forward);
  world.forwards.splice(at, 1);
  const released: Lists = {};
  for (const band of world.bands) {
    for (const batch of band.pending.filter(({ key }) => key === step)) {
      appendTo(band.holes, batch.pages);
      appendAll(released, band.name, batch.pages);
    }
    band.pending = band.pending.filter(({ key }) => key !== step);
  }
  return { released: pageLists(world, released) };
}
