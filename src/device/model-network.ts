// The operations of network transfers: which places a peer is told of, held against those of the request's rows.
import type { Effect } from "../base/effects.js";
import { expand } from "../base/extents.js";
import type { KvArgs, KvOk, PageLists, StatePurpose } from "../base/operations.js";
import { fail } from "./model-fault.js";
import { isHeld, releaseReady } from "./model-give-back.js";
import { withoutDoubtful } from "./model-groups.js";
import { reveal } from "./model-placing.js";
import { comparePlaces, placesOf } from "./model-places.js";
import type { ModelRun } from "./model-run.js";
import type { ModelRow } from "./model-rows.js";
import { bindSlotPages, bindTokens, markLists } from "./model-takes.js";
import { ModelTransfer } from "./model-transfers.js";
import type { ModelUse } from "./model-uses.js";

/** Learns where the sent slot lies, if that is not known. @internal */
export function beforeSend(run: ModelRun, args: KvArgs["net.send"], ok: KvOk["net.send"]): void {
  const band = run.arena.stateBand;
  if (band === null || args.state === undefined || run.unplaced.size === 0) return;
  const slot = currentSlot(run.rows.require(args.req), args.state);
  const page = expand(ok.pages[band.name] ?? []).at(-1);
  if (page !== undefined) reveal(run, band, slot, page);
}

/** Follows `net.send`. @internal */
export function send(run: ModelRun, args: KvArgs["net.send"], ok: KvOk["net.send"]): void {
  const row = run.rows.require(args.req);
  const slot = args.state === undefined ? 0 : currentSlot(row, args.state);
  const transfer = new ModelTransfer(args, "send", row, [], slot === 0 ? [] : [slot]);
  run.transfers.open(transfer);
  compareOpened(run, transfer, ok);
  const started = run.transfers.takeStarted();
  if (args.held !== true) publishAt(run, transfer, started);
  else if (started !== null) fail("bad_effect", `${args.transfer} is held and yet sent`);
}

/** Notes what `net.receive` hands out, before its effects run. @internal */
export function beforeReceive(
  run: ModelRun,
  _args: KvArgs["net.receive"],
  ok: KvOk["net.receive"],
): void {
  markLists(run, ok.pages);
}

/** Follows `net.receive`: a take whose places are told later. @internal */
export function receive(run: ModelRun, args: KvArgs["net.receive"], ok: KvOk["net.receive"]): void {
  const row = run.rows.require(args.req);
  bindTokens(run, [args], { [args.req]: ok.pages });
  const slots = bindSlotPages(run, row, "main", args.state ?? 0, ok.pages);
  const first = Math.floor(args.from / run.config.page_size);
  const virtual = Array.from(row.virtual.subarray(first, run.rows.pagesOf(args.to)));
  const transfer = new ModelTransfer(args, "receive", row, virtual, slots);
  run.transfers.open(transfer);
  readPlaces(run, transfer);
  compareEpoch(run, args.transfer, ok.epoch);
}

/** Follows `net.publish`: the true places, and read again where a page moved. @internal */
export function publish(
  run: ModelRun,
  { transfer: name, deferred }: KvArgs["net.publish"],
  ok: KvOk["net.publish"],
  effects: readonly Effect[],
): void {
  const transfer = run.transfers.require(name);
  if (transfer.use !== null) fail("bad_effect", `${name} is published twice`);
  const { opened, epoch } = transfer;
  compareOpened(run, transfer, ok);
  const isElsewhere = JSON.stringify(opened) !== JSON.stringify(transfer.opened);
  const hasMoved = epoch !== transfer.epoch && isElsewhere;
  if (hasMoved && !ok.reread)
    fail("bad_effect", `${name} is published and not read again, although a page of it moved`);
  const isRead = effects.some(([kind]) => kind === "hostread");
  if (!isRead && (deferred !== true || ok.reread))
    fail("bad_effect", `${name} is published without reading its places`);
  publishAt(run, transfer, run.transfers.takeStarted());
}

/** Follows `net.end`. @internal */
export function end(run: ModelRun, args: KvArgs["net.end"], ok: KvOk["net.end"]): void {
  const isLate = run.transfers.end(args.transfer, args.writer, args.outcome);
  if (isLate !== ok.late) {
    const said = ok.late ? "late" : "in time";
    fail("bad_effect", `the end of ${args.transfer} is answered as ${said}, which it is not`);
  }
  releaseReady(run, ok.released);
}

function publishAt(run: ModelRun, transfer: ModelTransfer, started: ModelUse | null): void {
  const { name, direction } = transfer;
  const isSame = started?.name === name && started.writes === (direction === "receive");
  if (started === null || !isSame) fail("bad_effect", `${name} goes without its net effect`);
  comparePlaces(run.arena, transfer.opened, started.places, `${direction} ${name}`);
  run.transfers.publish(transfer, started);
}

function compareOpened(
  run: ModelRun,
  transfer: ModelTransfer,
  ok: { readonly pages: PageLists; readonly epoch: number },
): void {
  const { name } = transfer;
  const named = placesOf(run.arena, ok.pages, `the answer for ${name}`);
  readPlaces(run, transfer);
  transfer.opened = withoutDoubtful(run, transfer.opened, named);
  comparePlaces(run.arena, transfer.opened, named, `the answer for ${name}`);
  compareEpoch(run, name, ok.epoch);
}

function compareEpoch(run: ModelRun, name: string, epoch: number): void {
  const { moveEffects } = run.arena;
  if (epoch !== moveEffects)
    fail("bad_effect", `${name} is of epoch ${epoch}, there were ${moveEffects} moves`);
}

/** Reads where the pages of a transfer lie now; what the row let go of, or took in place of a received page, is none. */
function readPlaces(run: ModelRun, transfer: ModelTransfer): void {
  const { row, from, to, slots, direction, virtual } = transfer;
  const { arena } = run;
  const places: number[][] = arena.bands.map(() => []);
  const first = Math.floor(from / run.config.page_size);
  const end = from === to ? first : Math.min(run.rows.pagesOf(to), row.pageCount);
  for (const band of arena.tokenBands) {
    for (let page = first; page < end; page++) {
      const id = row.virtual[page]!; // below pageCount
      if (id === 0 || !isHeld(run, band, id)) continue;
      if (direction === "receive" && virtual[page - first] !== id) continue;
      places[band.index]!.push(band.placeOf(id)); // one list a band, as below
    }
  }
  const { stateBand } = arena;
  const owned = row.allSlots();
  for (const slot of slots)
    if (stateBand !== null && owned.includes(slot))
      places[stateBand.index]!.push(stateBand.placeOf(slot));
  transfer.opened = places;
  transfer.epoch = arena.moveEffects;
}

function currentSlot(row: ModelRow, purpose: StatePurpose): number {
  return row.slots[purpose][purpose === "track" ? row.trackCursor : 0] ?? 0;
}
