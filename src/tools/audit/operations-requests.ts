// Requests that end, are retracted to the host, and come back.
import { countOf, expand, expandHost } from "../../base/extents.js";
import type { KvArgs, KvOk, PageLists } from "../../base/operations.js";
import { type Books, listOf } from "./books.js";
import { openRow } from "./contract.js";
import { beginUse, checkStep, type Shown } from "./effects.js";
import { FreeList } from "./free-list.js";
import { giveBack } from "./give-back.js";
import { checkLive, markReads } from "./hazards.js";
import type { KeptRow, LoadBook, LoadedWindow } from "./load-book.js";
import { closeRow, openRowOn } from "./operations-rows.js";
import { dropLocks, giveState, insertRow, lastState } from "./operations-tree.js";
import { PURPOSES, type RowBook, setId } from "./row-book.js";
import { checkZeroing, handOut, takeId, takeSlots } from "./takes.js";
import type { Use } from "./uses.js";

/** @internal */
export function finish(
  books: Books,
  args: KvArgs["request.finish"],
  ok: KvOk["request.finish"],
): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  const list = new FreeList();
  const counts = ok.tree ?? { new_pages: 0, duplicates: 0, rehomed: {} };
  if (args.insert) {
    const last = lastState(books, row, args.len);
    const end = insertRow(books, row, args.key ?? [], last.len, list, counts);
    giveState(books, row, last.slot, last.len, end);
  } else if (ok.tree !== undefined)
    books.report("tree.counts", `${args.req} ends without an insertion and counts one`, {
      component: "tree",
    });
  closeRequest(books, row, list);
  giveBack(books, list, ok);
}

// Its unpublished transfers end with it, then its locks, pages, slots and the row.
function closeRequest(books: Books, row: RowBook, list: FreeList): void {
  markReads(books, row);
  for (const transfer of [...books.transfers.values()]) {
    if (transfer.req !== row.req || transfer.use !== null) continue;
    books.transfers.delete(transfer.name);
    books.endedNow.push(transfer.name);
  }
  dropLocks(books, row);
  for (let page = books.pagesOf(row.protected); page < row.ids.length; page++) {
    const id = row.ids[page]!; // below the length
    if (id !== 0) list.whole(books, id);
  }
  for (const purpose of PURPOSES) for (const slot of row.slots[purpose]) list.slot(books, slot);
  closeRow(books, row);
}

/** @internal */
export function retract(
  books: Books,
  args: KvArgs["request.retract"],
  ok: KvOk["request.retract"],
  shown: Shown,
): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  if (args.backup !== undefined) {
    const kept = keptOf(books, row, shown.hostCopies[0]?.pages ?? {});
    const use = copyOut(books, args.backup, placesOfRow(books, row, kept), shown);
    const host = hostPagesOf(books, ok.host ?? {}, use);
    books.copies.open.set(args.backup, { use, load: null, kept, host });
  }
  const list = new FreeList();
  closeRequest(books, row, list);
  giveBack(books, list, ok);
}

function keptOf(books: Books, row: RowBook, copied: PageLists): KeptRow {
  const positions = [...row.ids.keys()].filter((page) => row.ids[page] !== 0);
  const windows = books.bands.map((band) => {
    if (!band.isWindow) return [];
    const there = [...positions.keys()].filter((at) => band.isHeld(row.ids[positions[at]!]!)); // positions of ids
    if (!books.hidesEvictions) return there;
    // The open group may have taken some from the tree: the copy tells which are left.
    const left = new Set(expand(listOf(copied, band.name)));
    return there.filter((at) => left.has(band.placeOf(row.ids[positions[at]!]!))); // as above
  });
  const { allocated, checkpoint } = row;
  const slots = row.slots.main.length;
  return { positions, windows, slots, allocated, checkpoint, cursors: [...row.cursors] };
}

function placesOfRow(
  books: Books,
  row: RowBook,
  kept: KeptRow,
): ReadonlyMap<string, readonly number[]> {
  return new Map(
    books.bands.map((band) => {
      if (band.isState) return [band.name, row.slots.main.map((slot) => band.placeOf(slot))];
      const at = band.isWindow ? kept.windows[band.index]! : [...kept.positions.keys()]; // a list a band
      return [band.name, at.map((place) => band.placeOf(row.ids[kept.positions[place]!]!))];
    }),
  );
}

/** Follows the copy out of these pages, which must stand in one effect. @internal */
export function copyOut(
  books: Books,
  name: string,
  due: ReadonlyMap<string, readonly number[]> | null,
  shown: Shown,
): Use | null {
  const pages = hostCopy(books, name, false, due, shown);
  if (pages === null) return null;
  for (const band of books.bands) {
    for (const page of expand(listOf(pages, band.name)))
      checkLive(books, `copy ${name} reads ${band.name} page ${page}`, band, page, {
        forwards: "none",
        copies: "writers",
        transfers: "none",
      });
  }
  return beginUse(books, "copy", name, false, pages);
}

/** Follows the copy into these pages. @internal */
export function copyIn(
  books: Books,
  name: string,
  due: ReadonlyMap<string, readonly number[]>,
  shown: Shown,
): Use | null {
  const pages = hostCopy(books, name, true, due, shown);
  if (pages === null) return null;
  for (const band of books.bands) {
    for (const page of expand(listOf(pages, band.name)))
      checkLive(books, `copy ${name} writes ${band.name} page ${page}`, band, page, {
        forwards: "none",
        copies: "all",
        transfers: "all",
      });
  }
  return beginUse(books, "copy", name, true, pages);
}

function hostCopy(
  books: Books,
  name: string,
  isIn: boolean,
  due: ReadonlyMap<string, readonly number[]> | null,
  shown: Shown,
): PageLists | null {
  const effect = shown.hostCopies.find((one) => one.name === name && one.isIn === isIn);
  if (effect === undefined) {
    books.reportMissing(
      "effect.missing",
      `${books.op} has no copy ${isIn ? "in" : "out"} named ${name}`,
      { actors: [name], component: "host" },
    );
    return null;
  }
  if (shown.hostCopies.length > 1)
    books.report("effect.stray", `${books.op} starts ${shown.hostCopies.length} copies`, {
      component: "host",
    });
  if (due !== null) requirePlaces(books, `copy ${name}`, effect.pages, due);
  for (const band of books.bands) {
    const pages = expand(listOf(effect.pages, band.name));
    const page = pages.find((other, at) => pages.indexOf(other) < at);
    if (page !== undefined)
      books.report("effect.pages", `copy ${name} names ${band.name} page ${page} twice`, {
        band,
        page,
      });
  }
  return effect.pages;
}

/** Whether lists name these pages, in this order; a page of a slot without a known place is not compared. @internal */
export function requirePlaces(
  books: Books,
  what: string,
  lists: PageLists,
  due: ReadonlyMap<string, readonly number[]>,
): void {
  for (const band of books.bands) {
    const listed = expand(listOf(lists, band.name));
    const all = due.get(band.name) ?? [];
    // In a group that evicted, window pages of the tree may be gone.
    const left = books.hidesEvictions && band.isWindow ? new Set(listed) : null;
    const pages = left === null ? all : all.filter((page) => left.has(page));
    const isSame =
      listed.length === pages.length &&
      pages.every((page, at) => page === 0 || page === listed[at]);
    if (isSame) continue;
    const at = pages.findIndex((page, index) => page !== 0 && page !== listed[index]);
    const wrong = at < 0 ? pages.length : at;
    books.report(
      "effect.pages",
      `${what} names ${band.name} page ${listed[wrong] ?? "no more"} where ${pages[wrong] ?? "no more"} is due`,
      { band },
    );
  }
}

/** Host pages that an answer names; each must be free of other open copies. @internal */
export function hostPagesOf(
  books: Books,
  host: PageLists,
  use: Use | null,
): readonly (readonly [band: string, page: number])[] {
  const pages = Object.entries(host).flatMap(([band, extents]) =>
    expandHost(extents).map((page) => [band, page] as const),
  );
  const inUse = new Set(
    [...books.copies.open.values()].flatMap((copy) =>
      copy.host.map(([band, page]) => `${band} ${page}`),
    ),
  );
  for (const [name, page] of pages) {
    const band = books.bandNamed(name);
    if (page >= (books.config.host?.[name] ?? 0))
      books.report("host.pages", `host page ${page} of ${name} is beyond its pool`, { band });
    if (inUse.has(`${name} ${page}`))
      books.report("host.pages", `host page ${page} of ${name} is in use by another copy`, {
        band,
      });
    inUse.add(`${name} ${page}`);
  }
  for (const band of use === null ? [] : books.bands) {
    const copied = use?.places.filter(([other]) => other === band).length ?? 0;
    const given = pages.filter(([name]) => name === band.name).length;
    if (copied !== given)
      books.report(
        "host.pages",
        `${copied} pages of ${band.name} are copied to ${given} host pages`,
        { band },
      );
  }
  return pages;
}

/** @internal */
export function restore(
  books: Books,
  args: KvArgs["request.restore"],
  ok: KvOk["request.restore"],
  shown: Shown,
): void {
  checkStep(books, ok.step, shown);
  checkZeroing(books, shown, null);
  const kept = books.copies.kept.get(args.copy);
  if (kept === undefined) {
    books.report("contract.name", `${args.req} is restored from ${args.copy}, which is not kept`, {
      actors: [args.copy],
      component: "host",
    });
    return;
  }
  const row = openRowOn(books, args.req, ok.rows[args.req]);
  if (row === null) return;
  books.copies.kept.delete(args.copy);
  books.marked = books.marked.filter((marked) => marked !== row.row); // it is written whole
  row.checkpoint = kept.checkpoint;
  const load = refill(books, args, row, kept, ok.pages);
  const due = new Map(books.bands.map((band) => [band.name, pagesOfLoad(load, band.name, books)]));
  const use = copyIn(books, args.copy, due, shown);
  books.copies.open.set(args.copy, { use, load, kept, host: [] });
}

function refill(
  books: Books,
  { copy }: KvArgs["request.restore"],
  row: RowBook,
  kept: KeptRow,
  lists: PageLists,
): LoadBook {
  const ids = expand(listOf(lists, "virtual")).filter((id) => id !== 0);
  if (ids.length !== kept.positions.length)
    books.report(
      "take.pages",
      `${row.req} had ${kept.positions.length} pages and gets ${ids.length} back`,
      { component: "virtual" },
    );
  row.ids.length = 0;
  for (let page = 0; page < books.pagesOf(kept.allocated); page++) setId(row, page, 0, books.n);
  const windows: LoadedWindow[] = [];
  for (const id of ids) takeId(books, books.owner, id);
  for (const band of books.tokenBands) {
    const pages = expand(listOf(lists, band.name));
    const places = band.isWindow ? kept.windows[band.index]! : [...kept.positions.keys()]; // a list a band
    const bound = pages.flatMap((page, at) => (page === 0 ? [] : [at]));
    if (countOf(listOf(lists, band.name)) > 0 && bound.join() !== places.join())
      books.report(
        "take.pages",
        `${row.req} gets ${band.name} pages at other positions than it had`,
        { band },
      );
    for (const at of bound) {
      const id = ids[at];
      if (id === undefined) continue;
      handOut(books, band, id, pages[at]!, "load"); // one of its indices
      if (band.isWindow) windows.push({ band, id });
    }
  }
  for (const [at, id] of ids.entries()) setId(row, kept.positions[at] ?? at, id, books.n);
  row.allocated = kept.allocated;
  const slots = takeSlots(books, lists, kept.slots, "load");
  row.slots.main.push(...slots);
  const before = [...row.cursors];
  for (const band of books.windows) row.cursors[band.index] = kept.cursors[band.index]!; // one a band
  return {
    name: copy,
    path: null,
    lacking: [],
    ids,
    slots,
    windows,
    row,
    positions: kept.positions,
    from: 0,
    cursorsBefore: before,
    cursorsSet: [...row.cursors],
    isBound: true,
  };
}

/** Where a load's pages lie now, of one band. @internal */
export function pagesOfLoad(load: LoadBook, name: string, books: Books): readonly number[] {
  const band = books.bandNamed(name);
  if (band === undefined) return [];
  if (band.isState) return load.slots.map((slot) => band.placeOf(slot));
  if (!band.isWindow) return load.ids.map((id) => band.placeOf(id));
  const there = load.windows.filter((window) => window.band === band && band.isHeld(window.id));
  return there.map(({ id }) => band.placeOf(id));
}
