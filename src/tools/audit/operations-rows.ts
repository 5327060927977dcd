// Rows, tokens and state slots.
import type { KvArgs, KvOk, Extents } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import type { Books } from "./books.js";
import { openRow } from "./contract.js";
import { checkStep, type Shown } from "./effects.js";
import { FreeList } from "./free-list.js";
import { giveBack } from "./give-back.js";
import { checkLive } from "./hazards.js";
import { currentSlot, emptyRow, PURPOSES, type RowBook, shortenTo } from "./row-book.js";
import { checkZeroing, type Growth, growRow, type HandedOut, takeSlots } from "./takes.js";
import { reveal } from "./unplaced.js";
import { pageLabels } from "./page-tree.js";

/** Opens a request on a row, which must be the oldest free one. @internal */
export function openRowOn(books: Books, req: string, row: number | undefined): RowBook | null {
  if (row === undefined) {
    books.report("row.order", `${req} gets no row`, { component: "rows" });
    return null;
  }
  if (books.rows.has(req))
    books.report("contract.name", `${req} is opened twice`, { actors: [req], component: "rows" });
  const { freeRows } = books;
  if (freeRows.length > 0 && freeRows.at(0) === row) freeRows.shift();
  else {
    const rest = freeRows.toArray();
    const holder = [...books.rows.values()].find((other) => other.row === row);
    const why =
      holder === undefined ? `${rest[0] ?? "none"} is the oldest free one` : `${holder.req} has it`;
    books.report("row.order", `${req} gets row ${row}, and ${why}`, { component: "rows" });
    freeRows.replace(rest.filter((other) => other !== row));
  }
  const opened = emptyRow(req, row, books.bands.length);
  books.rows.set(req, opened);
  return opened;
}

/** Gives a row back; its request is over. @internal */
export function closeRow(books: Books, row: RowBook): void {
  books.rows.delete(row.req);
  books.freeRows.push(row.row);
}

/** @internal */
export function rowAlloc(books: Books, args: KvArgs["row.alloc"], ok: KvOk["row.alloc"]): void {
  for (const req of args.reqs) {
    const row = openRowOn(books, req, ok.rows[req]);
    if (row !== null && !books.marked.includes(row.row)) books.marked.push(row.row);
  }
}

/** @internal */
export function rowFree(books: Books, { req }: KvArgs["row.free"]): void {
  const row = openRow(books, req);
  if (row === null) return;
  const id = row.ids.find((held) => held !== 0);
  const slot = PURPOSES.flatMap((purpose) => row.slots[purpose])[0];
  if (id !== undefined || slot !== undefined)
    books.report(
      "row.holding",
      `the row of ${req} is freed while it holds ${id === undefined ? `slot ${slot ?? 0}` : `virtual ${id}`}`,
      { component: "rows" },
    );
  closeRow(books, row);
}

interface Entry {
  readonly req: string;
  readonly from: number;
  readonly to: number;
  readonly tail?: number | undefined;
}

/** `tokens.extend` and `tokens.decode`. @internal */
export function extend(
  books: Books,
  batch: readonly Entry[],
  ok: KvOk["tokens.extend"],
  shown: Shown,
): void {
  checkStep(books, ok.step, shown);
  const growths = new Map<string, Growth[]>();
  for (const entry of batch) {
    const growth = grow(books, entry);
    if (growth === null) continue;
    const list = growths.get(entry.req);
    if (list === undefined) growths.set(entry.req, [growth]);
    else list.push(growth);
  }
  const out: HandedOut = new Map();
  for (const [req, list] of growths) growRow(books, list, ok.pages[req], out);
  for (const req of Object.keys(ok.pages)) {
    if (!growths.has(req))
      books.report("take.pages", `${req} gets pages and asked for none`, { actors: [req] });
  }
  checkZeroing(books, shown, out);
}

/** Lengthens a row; the positions that it gets pages for. @internal */
export function grow(books: Books, { req, from, to, tail }: Entry): Growth | null {
  const row = openRow(books, req);
  if (row === null) return null;
  if (from !== row.allocated || to < from || to > books.config.row_tokens)
    books.report(
      "contract.length",
      `${req} grows from ${from} to ${to} tokens, its row has ${row.allocated} of ${books.config.row_tokens}`,
      { component: "rows" },
    );
  const first = books.pagesOf(from);
  const end = books.pagesOf(to);
  const windowFrom =
    tail === undefined ? first : Math.max(first, Math.floor((to - tail) / books.pageSize));
  row.allocated = to;
  if (tail !== undefined)
    for (const band of books.windows) row.cursors[band.index] = windowFrom * books.pageSize;
  return { row, first, end, windowFrom };
}

/** @internal */
export function tokensFree(
  books: Books,
  args: KvArgs["tokens.free"],
  ok: KvOk["tokens.free"],
): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  const { from, to, bands } = args;
  const list = new FreeList();
  for (let page = books.pagesOf(from); page < books.pagesOf(to); page++) {
    const id = row.ids[page] ?? 0;
    const about = { band: books.owner };
    if (id === 0)
      books.report(
        "free.unbound",
        `${args.req} frees position ${page} of its row, where it has no page`,
        about,
      );
    else if (page < Math.floor(row.protected / books.pageSize))
      books.report(
        "free.foreign",
        `${args.req} frees position ${page} of its row, which is the tree's`,
        about,
      );
    else if (bands === "all" || bands === "full") {
      if (bands === "full") checkReleased(books, row, page, id);
      list.whole(books, id);
      row.ids[page] = 0;
    } else
      for (const band of books.windows)
        if (bands.includes(band.name)) freeWindow(books, list, band, row, page, id);
  }
  if (bands === "all" && to === row.allocated && from <= to) {
    shortenTo(row, from);
    row.ids.length = Math.min(row.ids.length, books.pagesOf(from));
    // A window that retired pages beyond has them before it again when the row grows anew.
    const end = books.pagesOf(from) * books.pageSize;
    for (const { index } of books.windows) row.cursors[index] = Math.min(row.cursors[index]!, end); // one a band
  }
  giveBack(books, list, ok);
}

function checkReleased(books: Books, row: RowBook, page: number, id: number): void {
  for (const band of books.windows) {
    if (band.isHeld(id))
      books.report(
        "free.foreign",
        `${row.req} frees position ${page} in full, and ${band.name} still has it`,
        { band },
      );
  }
}

function freeWindow(
  books: Books,
  list: FreeList,
  band: BandBook,
  row: RowBook,
  page: number,
  id: number,
): void {
  if (!band.isHeld(id))
    books.report(
      "free.unbound",
      `${row.req} frees position ${page} in ${band.name}, where it is not bound`,
      { band },
    );
  list.page(band, id);
}

/** @internal */
export function windowRetire(
  books: Books,
  args: KvArgs["window.retire"],
  ok: KvOk["window.retire"],
): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  const list = new FreeList();
  const freed: Record<string, Extents> = {};
  const deferred: Record<string, Extents> = {};
  for (const band of books.windows) {
    const part = ok[band.name];
    const due = retirement(books, row, band, args.len);
    if (part?.cursor !== due.cursor || part.floor !== due.floor)
      books.report(
        "retire.cursor",
        `${band.name} of ${args.req} retires to ${part?.cursor ?? "nothing"} (floor ${String(part?.floor ?? null)}), due is ${due.cursor} (floor ${String(due.floor)})`,
        { band },
      );
    const start = Math.max(row.cursors[band.index]!, row.protected); // one a band
    const end = Math.min(row.ids.length, due.cursor / books.pageSize); // beyond its ids a row has no pages
    for (let page = books.pagesOf(start); page < end; page++) {
      const id = row.ids[page] ?? 0;
      if (id !== 0) list.page(band, id);
    }
    row.cursors[band.index] = due.cursor;
    freed[band.name] = part?.freed ?? [];
    if (part?.deferred !== undefined) deferred[band.name] = part.deferred;
  }
  giveBack(books, list, { freed, deferred });
}

function retirement(
  books: Books,
  row: RowBook,
  band: BandBook,
  len: number,
): { readonly cursor: number; readonly floor: number | null } {
  const { pageSize: size } = books;
  const { prefix_sharing: isSharing, checkpoint } = books.config;
  const cursor = row.cursors[band.index]!; // one a band
  if (band.window === Infinity) return { cursor, floor: null };
  const hasFloor =
    isSharing === true && checkpoint !== undefined && checkpoint.strategy !== "no_buffer";
  const floor = hasFloor
    ? Math.max(0, Math.floor((row.checkpoint - band.window) / size) * size)
    : null;
  const kept = isSharing === true ? Math.max(band.window, size) : band.window;
  const threshold = Math.min(len - kept, floor ?? Infinity);
  return { cursor: Math.max(cursor, Math.floor(threshold / size) * size), floor };
}

/** @internal */
export function stateAlloc(
  books: Books,
  args: KvArgs["state.alloc"],
  ok: KvOk["state.alloc"],
  shown: Shown,
): void {
  const step = ok["step"];
  checkStep(
    books,
    step === "no_move" || step === "flush_ends" || step === "relayout" ? step : undefined,
    shown,
  );
  const row = openRow(books, args.req);
  const lists: Record<string, Extents> = {};
  for (const [name, value] of Object.entries(ok))
    if (Array.isArray(value)) lists[name] = value as Extents; // `step` and `ended` are no lists
  const slots = takeSlots(books, lists, args.count, "hand-out");
  row?.slots[args.purpose].push(...slots);
  if (args.purpose === "track") row?.tracked.push(...slots.map(() => null));
  checkZeroing(books, shown, null);
}

/** @internal */
export function stateFree(books: Books, args: KvArgs["state.free"], ok: KvOk["state.free"]): void {
  const row = openRow(books, args.req);
  if (row === null) return;
  const list = new FreeList();
  for (const slot of row.slots[args.purpose].splice(0)) list.slot(books, slot);
  if (args.purpose === "track") {
    row.tracked.length = 0;
    row.ring = 0;
  }
  giveBack(books, list, ok);
}

/** @internal */
export function stateCopy(books: Books, args: KvArgs["state.copy"], shown: Shown): void {
  const band = books.stateBand;
  const [copy, ...others] = shown.copies;
  if (copy === undefined || others.length > 0) {
    books.reportMissing("effect.missing", `a state copy has ${shown.copies.length} copy effects`, {
      band: band ?? undefined,
    });
    return;
  }
  const from = "key" in args.from ? cachedState(books, args.from) : slotAt(books, args.from);
  const to = slotAt(books, args.to);
  for (const [slot, page, what] of [
    [from, copy.src, "from"],
    [to, copy.dst, "to"],
  ] as const) {
    reveal(books, slot, page);
    const place = copy.band.placeOf(slot);
    if (slot !== 0 && place !== page)
      books.report(
        "effect.pages",
        `copies ${what} ${copy.band.name} page ${page}, slot ${slot} lies in ${place}`,
        { band: copy.band, page },
      );
  }
  checkLive(books, `copy from ${copy.band.name} page ${copy.src}`, copy.band, copy.src, {
    forwards: "writers",
    copies: "writers",
    transfers: "writers",
  });
  checkLive(books, `copy to ${copy.band.name} page ${copy.dst}`, copy.band, copy.dst, {
    forwards: "all",
    copies: "all",
    transfers: "all",
  });
}

function slotAt(
  books: Books,
  { req, purpose }: { readonly req: string; readonly purpose: keyof RowBook["slots"] },
): number {
  const row = openRow(books, req);
  const slot = row === null ? 0 : currentSlot(row, purpose);
  if (row !== null && slot === 0)
    books.report("contract.name", `${req} has no ${purpose} slot to copy`, { component: "rows" });
  return slot;
}

function cachedState(
  books: Books,
  { key, len }: { readonly key: Parameters<typeof pageLabels>[0]; readonly len: number },
): number {
  const labels = pageLabels(key, books.pageSize, len / books.pageSize);
  const path = books.tree.walk(labels);
  const slot = path.length * books.pageSize === len ? (path.at(-1)?.state ?? 0) : 0;
  if (slot === 0)
    books.report("contract.name", `copies the state cached at ${len} tokens, and none is`, {
      component: "tree",
    });
  return slot;
}
