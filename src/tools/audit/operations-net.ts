// Network transfers over a request's rows.
import { expand } from "../../base/extents.js";
import type { KvArgs, KvOk, PageLists } from "../../base/operations.js";
import { type Books, listOf } from "./books.js";
import { openRow } from "./contract.js";
import { beginUse, checkStep, type Shown } from "./effects.js";
import { releaseReady } from "./give-back.js";
import { checkLive, markAllReads } from "./hazards.js";
import { requirePlaces } from "./operations-requests.js";
import { grow } from "./operations-rows.js";
import { currentSlot, PURPOSES } from "./row-book.js";
import { checkZeroing, growRow, type HandedOut, takeSlots } from "./takes.js";
import { ANY_WRITER, type TransferBook } from "./transfer-book.js";

/** @internal */
export function send(
  books: Books,
  args: KvArgs["net.send"],
  ok: KvOk["net.send"],
  shown: Shown,
): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  if (args.to > row.allocated || args.from > args.to)
    books.report(
      "contract.length",
      `${args.transfer} sends ${args.from} to ${args.to} tokens of ${args.req}, which has ${row.allocated}`,
      { component: "rows" },
    );
  const slot = args.state === undefined ? 0 : currentSlot(row, args.state);
  const transfer = opened(books, args, "send", [], slot === 0 ? [] : [slot]);
  requirePlaces(books, args.transfer, ok.pages, placesOf(books, transfer));
  checkEpoch(books, args.transfer, ok.epoch);
  if (args.held === true) requireNoStart(books, shown);
  else start(books, transfer, shown);
}

/** @internal */
export function receive(
  books: Books,
  args: KvArgs["net.receive"],
  ok: KvOk["net.receive"],
  shown: Shown,
): void {
  checkStep(books, ok.step, shown);
  const growth = grow(books, args);
  if (growth === null) return;
  const out: HandedOut = new Map();
  growRow(books, [growth], ok.pages, out);
  const slots =
    books.stateBand === null ? [] : takeSlots(books, ok.pages, args.state ?? 0, "hand-out");
  growth.row.slots.main.push(...slots);
  checkZeroing(books, shown, out);
  const first = Math.floor(args.from / books.pageSize);
  const end = args.from === args.to ? first : books.pagesOf(args.to);
  opened(books, args, "receive", growth.row.ids.slice(first, end), slots);
  checkEpoch(books, args.transfer, ok.epoch);
  requireNoStart(books, shown);
}

/** @internal */
export function publish(
  books: Books,
  args: KvArgs["net.publish"],
  ok: KvOk["net.publish"],
  shown: Shown,
): void {
  const transfer = books.transfers.get(args.transfer);
  if (transfer === undefined || transfer.use !== null) {
    books.report(
      "contract.name",
      `${args.transfer} is published, and is ${transfer === undefined ? "not open" : "published already"}`,
      { actors: [args.transfer], component: "net" },
    );
    return;
  }
  const reread = transfer.epoch !== books.moveEffects;
  if (ok.reread !== reread)
    books.report(
      "epoch",
      `${args.transfer} answers reread ${String(ok.reread)}, ${reread ? "pages have" : "no page has"} moved`,
      { component: "net" },
    );
  checkEpoch(books, args.transfer, ok.epoch);
  const reads = shown.hostReads.filter((what) => what === "publish").length;
  const due = args.deferred !== true || reread ? 1 : 0;
  if (reads < due)
    books.reportMissing("effect.missing", `the places of ${args.transfer} are not read back`, {
      component: "net",
    });
  if (reads > due)
    books.report("effect.stray", `the places of ${args.transfer} are read back beside the stream`, {
      component: "net",
    });
  requirePlaces(books, args.transfer, ok.pages, placesOf(books, transfer));
  start(books, transfer, shown);
}

function checkEpoch(books: Books, name: string, epoch: number): void {
  if (epoch !== books.moveEffects)
    books.report(
      "epoch",
      `${name} answers epoch ${epoch}, there were ${books.moveEffects} move effects`,
      { component: "net" },
    );
}

function requireNoStart(books: Books, shown: Shown): void {
  const [net] = shown.nets;
  if (net !== undefined)
    books.report("effect.stray", `${books.op} starts ${net.name}, which is held`, {
      actors: [net.name],
      component: "net",
    });
}

// Tells the peer: from now on it may read or write the pages.
function start(books: Books, transfer: TransferBook, shown: Shown): void {
  const { name, direction } = transfer;
  const isSend = direction === "send";
  const effect = shown.nets.find((one) => one.name === name && one.isSend === isSend);
  if (effect === undefined || shown.nets.length > 1) {
    const rule = effect === undefined ? "effect.missing" : "effect.stray";
    const message = `${books.op} of ${name} has ${shown.nets.length} transfer effects`;
    if (effect === undefined)
      books.reportMissing(rule, message, { actors: [name], component: "net" });
    else books.report(rule, message, { actors: [name], component: "net" });
  }
  const due = placesOf(books, transfer);
  if (effect !== undefined) requirePlaces(books, name, effect.pages, due);
  const pages: PageLists = effect?.pages ?? {};
  if (!isSend) markAllReads(books);
  for (const band of books.bands) {
    for (const page of expand(listOf(pages, band.name)))
      checkLive(books, `${direction} ${name} of ${band.name} page ${page}`, band, page, {
        forwards: isSend ? "writers" : "all",
        copies: isSend ? "writers" : "all",
        transfers: "none",
      });
  }
  transfer.use = beginUse(books, "transfer", name, !isSend, pages);
  transfer.epoch = books.moveEffects;
}

function opened(
  books: Books,
  args: KvArgs["net.send"] | KvArgs["net.receive"],
  direction: TransferBook["direction"],
  ids: readonly number[],
  slots: readonly number[],
): TransferBook {
  const first = Math.floor(args.from / books.pageSize);
  const end = args.from === args.to ? first : books.pagesOf(args.to);
  const writers = args.writers ?? [];
  const named = new Set(writers.length === 0 ? [ANY_WRITER] : writers);
  const name = args.transfer;
  const rest = { named, left: new Set(named), epoch: books.moveEffects, use: null };
  if (books.transfers.has(name))
    books.report("contract.name", `${name} is opened twice`, { actors: [name], component: "net" });
  const transfer: TransferBook = {
    name,
    direction,
    req: args.req,
    first,
    end,
    ids,
    slots,
    ...rest,
  };
  books.transfers.set(name, transfer);
  return transfer;
}

/** Where a transfer's pages lie now; what its row no longer names is left out. @internal */
export function placesOf(
  books: Books,
  transfer: TransferBook,
): ReadonlyMap<string, readonly number[]> {
  const row = books.rows.get(transfer.req);
  const places = new Map<string, number[]>(books.bands.map((band) => [band.name, []]));
  if (row === undefined) return places;
  for (let page = transfer.first; page < transfer.end; page++) {
    const id = row.ids[page] ?? 0;
    const isReplaced =
      transfer.direction === "receive" && transfer.ids[page - transfer.first] !== id;
    if (id === 0 || isReplaced) continue;
    for (const band of books.tokenBands) {
      if (!band.isWindow || band.isHeld(id)) places.get(band.name)!.push(band.placeOf(id)); // set above
    }
  }
  const { stateBand } = books;
  const owned = PURPOSES.flatMap((purpose) => row.slots[purpose]);
  for (const slot of stateBand === null ? [] : transfer.slots) {
    if (owned.includes(slot)) places.get(stateBand!.name)!.push(stateBand!.placeOf(slot)); // as above
  }
  return places;
}

/** @internal */
export function end(books: Books, args: KvArgs["net.end"], ok: KvOk["net.end"]): void {
  const transfer = books.transfers.get(args.transfer);
  if (transfer === undefined) {
    if (!ok.late)
      books.report("transfer.end", `${args.transfer} is not open, and its end is not late`, {
        actors: [args.transfer],
        component: "net",
      });
    return;
  }
  const writer = args.writer ?? ANY_WRITER;
  const isTimeout = args.outcome === "timeout";
  const isLate = !isTimeout && !transfer.left.has(writer);
  if (isLate !== ok.late)
    books.report(
      "transfer.end",
      `the end of ${args.transfer} is ${isLate ? "late" : "in time"}, the answer says otherwise`,
      { actors: [args.transfer], component: "net" },
    );
  transfer.left.delete(writer);
  const fails = transfer.direction === "send" && args.outcome === "failed";
  if (isLate || !(isTimeout || fails || transfer.left.size === 0)) {
    requireNothing(books, ok.released);
    return;
  }
  books.transfers.delete(transfer.name);
  books.uses.transfers.delete(transfer.name);
  if (transfer.use !== null) books.uses.end(transfer.use);
  releaseReady(books, ok.released);
}

function requireNothing(books: Books, released: PageLists): void {
  for (const name of Object.keys(released))
    books.report("transfer.end", `releases ${name}, and no transfer ended`, { component: name });
}
