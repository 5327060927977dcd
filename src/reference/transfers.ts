// Network sends and receives: what they are about, publication, and their ends.
import type { KvArgs, KvOk, PageLists, PagesEpochOk } from "../base/operations.js";
import { append, type Lists, pageLists } from "./answers.js";
import { checkBetween } from "./forwards.js";
import { releaseDeferred } from "./frees.js";
import { Faults, invalid } from "./refusal.js";
import { isAwaited, placeOf, requestNamed } from "./rows.js";
import { copiesOn, forwardsReading, unretired, waitFor, writesOne } from "./signals.js";
import { slotOf, takeSlots } from "./slots.js";
import { checkGrowth, grow, growthOf } from "./tokens.js";
import {
  bandNamed,
  type FreedUnit,
  hasOverlap,
  ownerOf,
  type Place,
  PURPOSES,
  type Request,
  stateBandOf,
  type Transfer,
  windowsOf,
  type World,
} from "./world.js";

const ONLY_WRITER = ""; // stands for the one writer of a transfer that names none

/** @internal */
export function netSend(world: World, args: KvArgs["net.send"]): KvOk["net.send"] {
  const { transfer: name, req, from, to, state, held, writers } = args;
  const faults = new Faults();
  const request = world.requests.get(req);
  if (request === undefined) invalid("unknown_request", { req });
  if (to > request.allocated || to < from) faults.add("beyond_row", { req });
  const slot = state === undefined ? null : slotOf(request, state);
  if (state !== undefined && slot === null) faults.add("nothing_tracked", { req });
  if (isKnown(world, name)) faults.add("name_state");
  if (world.stages !== null) faults.add("feature_conflict");
  faults.check();
  const slots = slot === null ? [] : [slot];
  const transfer = open(world, name, "send", request, { from, to, slots, writers });
  if (held === true) return whereabouts(world, transfer);
  publish(world, transfer);
  return whereabouts(world, transfer);
}

/** @internal */
export function netReceive(world: World, args: KvArgs["net.receive"]): KvOk["net.receive"] {
  const { transfer: name, req, from, to, tail, state, writers } = args;
  const faults = new Faults();
  const request = world.requests.get(req);
  if (request === undefined) invalid("unknown_request", { req });
  checkGrowth(world, faults, request, { req, from, to }, request.allocated);
  checkBetween(world, faults);
  if (isKnown(world, name)) faults.add("name_state");
  if (world.stages !== null) faults.add("feature_conflict");
  if ((state ?? 0) > 0 && stateBandOf(world) === null) faults.add("feature_conflict");
  faults.check();
  const growth = growthOf(world, request, from, to, tail);
  const { lists, slots, step } = grow(world, [growth], state ?? 0);
  takeSlots(world, request, "main", slots);
  open(world, name, "receive", request, {
    from,
    to,
    slots: slots.map(({ slot }) => slot),
    writers,
  });
  const pages = lists.get(req) ?? {};
  const stateBand = stateBandOf(world);
  for (const { slot, page } of slots) {
    append(pages, "slots", slot);
    if (stateBand !== null) append(pages, stateBand.name, page);
  }
  return { pages: pageLists(world, pages), epoch: world.moveEpoch, step };
}

/** @internal */
export function netPublish(world: World, args: KvArgs["net.publish"]): KvOk["net.publish"] {
  const transfer = world.transfers.find(({ name }) => name === args.transfer);
  const faults = new Faults();
  if (transfer === undefined || transfer.isPublished) faults.add("name_state");
  if (world.stages !== null) faults.add("feature_conflict");
  if (args.deferred === true && !hasOverlap(world)) faults.add("feature_conflict");
  faults.check();
  if (transfer === undefined) invalid("name_state");
  const reread = transfer.epoch !== world.moveEpoch;
  if (args.deferred !== true || reread) world.fx.push(["hostread", "publish"]);
  transfer.epoch = world.moveEpoch;
  publish(world, transfer);
  return { ...whereabouts(world, transfer), reread };
}

/** @internal */
export function netStall(world: World, args: KvArgs["net.stall"]): Record<string, never> {
  const transfer = world.transfers.find(({ name }) => name === args.transfer);
  if (transfer === undefined) invalid("name_state");
  transfer.isStalled = true;
  return {};
}

/** @internal */
export function netEnd(world: World, args: KvArgs["net.end"]): KvOk["net.end"] {
  const { transfer: name, writer, outcome } = args;
  const transfer = world.transfers.find((candidate) => candidate.name === name);
  if (transfer === undefined) {
    if (!world.closedTransfers.includes(name)) invalid("name_state");
    if (world.stages !== null) invalid("feature_conflict");
    return { released: {}, late: true };
  }
  if (!transfer.isPublished && outcome === "ok") invalid("name_state"); // no peer is done with what it was not told
  const isRepeated = !transfer.writers.includes(writer ?? ONLY_WRITER);
  if (outcome !== "timeout" && isRepeated) return { released: {}, late: true };
  const endsAll = outcome === "timeout" || (outcome === "failed" && transfer.direction === "send");
  transfer.writers = endsAll ? [] : transfer.writers.filter((other) => other !== writer);
  if (writer === undefined) transfer.writers = [];
  if (transfer.writers.length > 0) return { released: {}, late: false };
  closeTransfers(world, [name]);
  return { released: pageLists(world, releaseDeferred(world)), late: false };
}

/** A request that ends takes its unpublished transfers with it. @internal */
export function endHeldTransfers(world: World, req: string): void {
  const names = world.transfers
    .filter((transfer) => transfer.req === req && !transfer.isPublished)
    .map(({ name }) => name);
  closeTransfers(world, names);
  world.ended.push(...names);
}

/** @internal */
export function closeTransfers(world: World, names: readonly string[]): void {
  world.transfers = world.transfers.filter(({ name }) => !names.includes(name));
  world.closedTransfers.push(...names);
}

function isKnown(world: World, name: string): boolean {
  return (
    world.transfers.some((transfer) => transfer.name === name) ||
    world.closedTransfers.includes(name)
  );
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly slots: readonly number[];
  readonly writers: readonly string[] | undefined;
}

function open(
  world: World,
  name: string,
  direction: Transfer["direction"],
  request: Request,
  { from, to, slots, writers }: Range,
): Transfer {
  const { page_size: pageSize } = world.config;
  const firstPage = Math.floor(from / pageSize);
  const endPage = Math.ceil(to / pageSize);
  const transfer: Transfer = {
    name,
    serial: world.transferCount,
    direction,
    req: request.name,
    units: unitsOf(world, request, firstPage, endPage, slots),
    places: [],
    isPublished: false,
    isStalled: false,
    writers: writers === undefined || writers.length === 0 ? [ONLY_WRITER] : [...writers],
    epoch: world.moveEpoch,
    firstPage,
    endPage,
  };
  world.transferCount += 1;
  world.transfers.push(transfer);
  return transfer;
}

function unitsOf(
  world: World,
  request: Request,
  firstPage: number,
  endPage: number,
  slots: readonly number[],
): FreedUnit[] {
  const units: FreedUnit[] = [];
  for (let page = firstPage; page < endPage; page++) {
    const id = request.virtual[page] ?? 0;
    if (id === 0) continue;
    units.push({ band: ownerOf(world).name, id });
    for (const band of windowsOf(world))
      if (placeOf(world, request, band, page) !== 0) units.push({ band: band.name, id });
  }
  const state = stateBandOf(world);
  if (state !== null) units.push(...slots.map((id) => ({ band: state.name, id })));
  return units;
}

// Where its pages lie now; what was freed meanwhile is left out.
function placesNow(world: World, transfer: Transfer): Place[] {
  return transfer.units.flatMap(({ band, id }) => {
    if (isAwaited(world, band, id)) return [];
    const page = bandNamed(world, band).bindings.get(id);
    return page === undefined ? [] : [{ band, page }];
  });
}

function whereabouts(world: World, transfer: Transfer): PagesEpochOk {
  return { pages: listed(world, placesNow(world, transfer)), epoch: transfer.epoch };
}

function listed(world: World, places: readonly Place[]): PageLists {
  const lists: Lists = {};
  for (const { band, page } of places) append(lists, band, page);
  return pageLists(world, lists);
}

// A held send is about positions of its row: it goes with what they hold by now, and with the slots that are left.
function readAgain(world: World, transfer: Transfer): void {
  const request = requestNamed(world, transfer.req); // a request that ends takes its held transfers along
  const state = stateBandOf(world)?.name;
  const held = PURPOSES.flatMap((purpose) => request.slots[purpose]);
  const sent = transfer.units.filter(({ band }) => band === state).map(({ id }) => id);
  const slots = sent.filter((id) => held.includes(id));
  transfer.units = unitsOf(world, request, transfer.firstPage, transfer.endPage, slots);
}

// From now on the peer may touch the pages. What still writes those of a send is waited first, and whatever came to use
// those of a receive since its take, which waited all earlier uses.
function publish(world: World, transfer: Transfer): void {
  if (transfer.direction === "send") readAgain(world, transfer);
  const places = placesNow(world, transfer);
  const isSend = transfer.direction === "send";
  const signals: string[] = [];
  for (const { band: name, page } of places) {
    const band = bandNamed(world, name);
    signals.push(...copiesOn(world, band, page, isSend ? ["in"] : ["in", "out"]));
    if (!isSend) signals.push(...forwardsReading(world, band, page));
  }
  const running = unretired(world);
  const isWritten = running.some((forward) =>
    places.some(({ band, page }) => writesOne(forward, bandNamed(world, band), [page])),
  );
  if (isWritten) signals.push(running.at(-1)!.name); // one of them writes, so there is a last one
  waitFor(world, signals);
  world.fx.push(["net", transfer.name, transfer.direction, listed(world, places)]);
  // From here on its age counts among those that are waited.
  world.transfers = [...world.transfers.filter((other) => other !== transfer), transfer];
  transfer.places = places;
  transfer.isPublished = true;
}
