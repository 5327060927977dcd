// Copies to and from the host: backups, loads.
import { expand } from "../../base/extents.js";
import type { FreedOk, KvArgs, KvOk, PageLists } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import { type Books, listOf } from "./books.js";
import { openRow } from "./contract.js";
import { checkStep, type Shown } from "./effects.js";
import { FreeList } from "./free-list.js";
import { giveBack } from "./give-back.js";
import { giveUp, publish } from "./load-ends.js";
import type { LoadBook, LoadedWindow, OpenCopy } from "./load-book.js";
import { copyIn, copyOut, hostPagesOf, pagesOfLoad, requirePlaces } from "./operations-requests.js";
import { pageLabels, type PageNode } from "./page-tree.js";
import { setId } from "./row-book.js";
import { checkZeroing, handOut, takeId } from "./takes.js";
import { reveal } from "./unplaced.js";

/** @internal */
export function backup(
  books: Books,
  { copy, key, len }: KvArgs["host.backup"],
  ok: KvOk["host.backup"],
  shown: Shown,
): void {
  const path = books.tree.reach(pageLabels(key, books.pageSize, len / books.pageSize));
  const use = copyOut(books, copy, null, shown);
  const onPath = new Set(path);
  let deepest: PageNode | null = null; // of what is copied: what the host has already is not locked
  for (const [band, page] of use?.places ?? []) {
    if (band.isState && band.idAt(page) <= 0 && revealOnPath(books, path, page)) continue;
    const id = band.idAt(page);
    const node = band.isState ? books.tree.stateOf.get(id) : books.tree.pageOf.get(id);
    if (node !== undefined && node.page > (deepest?.page ?? -1)) deepest = node;
    if (node === undefined || !onPath.has(node))
      books.report(
        "effect.pages",
        `copy ${copy} reads ${band.name} page ${page}, which is not on its path`,
        { band, page },
      );
  }
  const host = hostPagesOf(books, ok.host, use);
  if (deepest !== null) books.copyLocks.set(copy, books.tree.lock(deepest));
  books.copies.open.set(copy, { use, load: null, kept: null, host });
}

// A donated slot may show its page here first; of several nobody can tell which it is.
function revealOnPath(books: Books, path: readonly PageNode[], page: number): boolean {
  const states = path.map(({ state }) => state).filter((slot) => books.unplaced.has(slot));
  if (states.length === 1) reveal(books, states[0]!, page); // the only one
  return states.length > 0;
}

/** @internal */
export function backupDone(books: Books, { copy, outcome }: KvArgs["host.backup_done"]): void {
  const open = endCopy(books, copy, false);
  dropCopyLock(books, copy);
  const kept = open?.kept ?? null;
  if (kept !== null && outcome === "ok") books.copies.kept.set(copy, kept);
}

function endCopy(books: Books, name: string, isIn: boolean): OpenCopy | null {
  const open = books.copies.open.get(name);
  if (open === undefined || (open.load !== null) !== isIn) {
    books.report(
      "contract.name",
      `${books.op} ends ${name}, which is no open copy ${isIn ? "in" : "out"}`,
      { actors: [name], component: "host" },
    );
    return null;
  }
  books.copies.open.delete(name);
  books.uses.copies.delete(name);
  if (open.use !== null) books.uses.end(open.use);
  return open;
}

function dropCopyLock(books: Books, name: string): void {
  const lock = books.copyLocks.get(name);
  books.copyLocks.delete(name);
  if (lock !== undefined) books.tree.unlock(lock);
}

/** @internal */
export function loadReserve(
  books: Books,
  args: KvArgs["host.load_reserve"],
  ok: KvOk["host.load_reserve"],
  shown: Shown,
): void {
  checkStep(books, ok.step, shown);
  checkZeroing(books, shown, null);
  const { key, len = 0 } = args;
  const path =
    key === undefined
      ? null
      : books.tree.reach(pageLabels(key, books.pageSize, len / books.pageSize));
  const ids = expand(listOf(ok.pages, "virtual"));
  const slots = expand(listOf(ok.pages, "slots"));
  const lacking = lackingOf(books, path, ids.length);
  checkAmounts(books, args, ok.pages, path === null ? null : lacking.length);
  const windows: LoadedWindow[] = [];
  for (const band of books.bands) {
    const pages = expand(listOf(ok.pages, band.name));
    const names = band.isState ? slots : band.isWindow ? pages.map(() => books.placeholder()) : ids;
    if (names.length !== pages.length)
      books.report(
        "take.pages",
        `load ${args.load} gets ${pages.length} pages of ${band.name} under ${names.length} ids`,
        { band },
      );
    for (const [at, id] of names.entries()) {
      if (band.isWindow) windows.push({ band, id });
      else takeId(books, band, id);
      if (at < pages.length) reservePage(books, args.load, band, id, pages[at]!); // one of them
    }
  }
  const nowhere = {
    row: null,
    positions: [],
    from: 0,
    cursorsBefore: [],
    cursorsSet: [],
    isBound: false,
  };
  books.loads.set(args.load, { name: args.load, path, lacking, ids, slots, windows, ...nowhere });
  const end = path?.at(-1);
  if (end !== undefined) books.copyLocks.set(args.load, books.tree.lock(end));
}

function reservePage(books: Books, load: string, band: BandBook, id: number, page: number): void {
  handOut(books, band, id, page, "load");
  // With stages ids keep full pages and states, which may move.
  if (band.isUsable(page) && (band.isWindow || !books.staged)) band.record(page).fixedBy = load;
}

// Pages of a path that are not on the device. In a group that evicted the answer tells how many are gone.
function lackingOf(
  books: Books,
  path: readonly PageNode[] | null,
  given: number,
): readonly PageNode[] {
  if (path === null) return [];
  if (books.hidesEvictions)
    for (const node of path.slice(path.length - given))
      if (node.id !== 0) books.tree.dropPage(node.id);
  return path.filter((node) => node.id === 0);
}

function checkAmounts(
  books: Books,
  args: KvArgs["host.load_reserve"],
  pages: PageLists,
  lacking: number | null,
): void {
  for (const band of books.bands) {
    const given = expand(listOf(pages, band.name)).length;
    if (lacking !== null && (band.isWindow || band.isState)) continue; // what the host has of those is not known
    const due = lacking ?? args.demand?.[band.name] ?? 0;
    if (given !== due)
      books.report(
        "take.pages",
        `load ${args.load} gets ${given} pages of ${band.name}, it needs ${due}`,
        { band },
      );
  }
}

/** @internal */
export function loadBind(
  books: Books,
  args: KvArgs["host.load_bind"],
  ok: KvOk["host.load_bind"],
): void {
  const load = books.loads.get(args.load);
  if (load === undefined || load.isBound) {
    books.report(
      "contract.name",
      `${args.load} is bound, and is ${load === undefined ? "not reserved" : "bound already"}`,
      { actors: [args.load], component: "host" },
    );
    return;
  }
  load.isBound = true;
  if (load.path === null) enterRow(books, load, args);
  const ids = expand(listOf(ok.bound, "virtual"));
  for (const band of books.windows) {
    const pages = expand(listOf(ok.bound, band.name));
    for (const [at, page] of pages.entries())
      if (page !== 0) bindWindow(books, load, band, page, ids[at] ?? 0);
    if (load.path !== null) continue;
    const left = load.windows.find((window) => window.band === band && window.id < 0);
    if (left !== undefined)
      books.report(
        "load.pages",
        `load ${load.name} leaves ${band.name} page ${band.placeOf(left.id)} without an id`,
        { band },
      );
  }
}

function bindWindow(books: Books, load: LoadBook, band: BandBook, page: number, id: number): void {
  const window = load.windows.find((one) => one.band === band && one.id === band.idAt(page));
  const onPath = load.path?.some((node) => node.id === id) === true;
  if (window === undefined || window.id > 0) {
    books.report(
      "load.pages",
      `load ${load.name} binds ${band.name} page ${page}, which it did not reserve`,
      { band, page },
    );
    return;
  }
  if (!load.ids.includes(id) && !onPath)
    books.report(
      "load.pages",
      `load ${load.name} binds ${band.name} page ${page} to virtual ${id}, which is not its own`,
      { band, page },
    );
  if (band.placeOf(id) !== 0) {
    books.report(
      "id.bound",
      `load ${load.name} binds virtual ${id} in ${band.name}, where it is bound`,
      { band, page },
    );
    return;
  }
  band.rename(window.id, id, books.n);
  window.id = id;
  band.record(page).fixedBy = "";
  if (load.path !== null) band.unpublished.add(id);
}

// The row takes the ids behind its last page, window pages go to its last positions.
function enterRow(books: Books, load: LoadBook, { req, from }: KvArgs["host.load_bind"]): void {
  const row = req === undefined ? null : openRow(books, req);
  if (row === null) return;
  if (from !== row.allocated || row.allocated % books.pageSize !== 0)
    books.report(
      "contract.length",
      `${row.req} takes a load at ${from ?? "no place"}, its row ends at ${row.allocated}`,
      { component: "rows" },
    );
  const first = books.pagesOf(row.allocated);
  load.row = row;
  load.from = row.allocated;
  load.positions = load.ids.map((_, at) => first + at);
  for (const [at, id] of load.ids.entries()) setId(row, first + at, id, books.n);
  row.slots.main.push(...load.slots);
  load.cursorsBefore = [...row.cursors];
  const end = first + load.ids.length;
  if (load.ids.length > 0) row.allocated = end * books.pageSize;
  for (const band of books.windows) {
    const count = load.windows.filter((window) => window.band === band).length;
    if (count < load.ids.length) row.cursors[band.index] = (end - count) * books.pageSize;
  }
  load.cursorsSet = [...row.cursors];
}

/** @internal */
export function loadSubmit(
  books: Books,
  args: KvArgs["host.load_submit"],
  ok: KvOk["host.load_submit"],
  shown: Shown,
): void {
  const load = books.loads.get(args.load);
  if (load === undefined) {
    books.report("contract.name", `${args.load} is submitted, and is not reserved`, {
      actors: [args.load],
      component: "host",
    });
    return;
  }
  const waiting = load.windows.find(({ id }) => id < 0);
  if (waiting !== undefined && !load.isBound)
    books.report(
      "contract.name",
      `${args.load} is submitted before its ${waiting.band.name} pages are bound`,
      { band: waiting.band },
    );
  books.loads.delete(args.load);
  const due = new Map(books.bands.map((band) => [band.name, pagesOfLoad(load, band.name, books)]));
  requirePlaces(books, `load ${args.load}`, ok.pages, due);
  for (const band of books.bands) {
    if (band.isWindow) continue; // those were released when an id named them
    for (const page of due.get(band.name) ?? []) if (page !== 0) band.record(page).fixedBy = "";
  }
  const use = copyIn(books, args.copy, due, shown);
  books.copies.open.set(args.copy, { use, load, kept: null, host: [] });
}

/** @internal */
export function loadCancel(books: Books, args: KvArgs["host.load_cancel"], ok: FreedOk): void {
  const load = books.loads.get(args.load);
  if (load === undefined) {
    books.report("contract.name", `${args.load} is cancelled, and is not reserved`, {
      actors: [args.load],
      component: "host",
    });
    return;
  }
  books.loads.delete(args.load);
  dropCopyLock(books, load.name);
  giveUp(books, load, ok);
}

/** @internal */
export function loadDone(
  books: Books,
  { copy, outcome }: KvArgs["host.load_done"],
  ok: FreedOk,
): void {
  const open = endCopy(books, copy, true);
  const load = open?.load ?? null;
  if (open === null || load === null) return;
  const { kept } = open;
  if (outcome === "failed") {
    giveUp(books, load, ok);
    if (kept !== null) books.copies.kept.set(copy, kept);
  } else if (load.path === null) giveBack(books, new FreeList(), ok);
  else publish(books, load, ok);
  dropCopyLock(books, load.name);
}
