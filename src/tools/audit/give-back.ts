// Frees: what somebody gives back is held against what the answer lists, page by page, and then let go of. Pages that a
// transfer touches are listed apart and stay bound until it is over; in an open group all waits for its end.
import { expand } from "../../base/extents.js";
import type { Extents, PageLists } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import { type Books, listOf } from "./books.js";
import { FreeList } from "./free-list.js";
import { reveal } from "./unplaced.js";

/** The lists of an answer that frees. @internal */
export interface FreedLists {
  readonly freed: PageLists;
  readonly deferred?: PageLists | undefined;
}
/** Whether the order of the lists is known. @internal */
export type ListOrder = "listed" | "any";

/** Gives back at once, or notes it for the end of the open group. @internal */
export function giveBack(
  books: Books,
  list: FreeList,
  lists: FreedLists,
  order: ListOrder = "listed",
): void {
  const { group } = books;
  if (group === null) {
    release(books, list, lists, order);
    return;
  }
  requireNothingListed(books, lists);
  for (const page of list.pages) {
    page.band.given.add(page.id);
    group.list.pages.push(page);
  }
  group.list.virtual.push(...list.virtual);
  group.list.slots.push(...list.slots);
}

/** In an open group nothing is freed yet. @internal */
export function requireNothingListed(books: Books, { freed, deferred }: FreedLists): void {
  for (const [name, ids] of Object.entries({ ...freed, ...deferred })) {
    if (ids.length > 0)
      books.report("free.foreign", `${books.op} lists ${name} inside an open group`, {
        component: name,
      });
  }
}

/** Gives back now. @internal */
export function release(
  books: Books,
  list: FreeList,
  { freed, deferred }: FreedLists,
  order: ListOrder = "listed",
): void {
  revealListed(books, list, freed, deferred);
  for (const band of books.bands) {
    const ids = list.pages.filter((page) => page.band === band).map(({ id }) => id);
    releasePages(books, band, ids, listOf(freed, band.name), listOf(deferred, band.name), order);
  }
  const { virtual, slots } = books.deferredIds;
  const waits = (id: number): boolean =>
    books.tokenBands.some((band) => isDeferred(books, band, id));
  releaseIds(books, "virtual", list.virtual, waits, virtual, { freed, deferred }, order);
  const { stateBand } = books;
  const slotWaits = (id: number): boolean => stateBand !== null && isDeferred(books, stateBand, id);
  releaseIds(books, "slots", list.slots, slotWaits, slots, { freed, deferred }, order);
}

// A slot without a known place is found where the lists name it.
function revealListed(
  books: Books,
  list: FreeList,
  freed: PageLists,
  deferred: PageLists | undefined,
): void {
  const { stateBand } = books;
  if (stateBand === null || books.unplaced.size === 0) return;
  for (const lists of [freed, deferred]) {
    const pages = expand(listOf(lists, stateBand.name));
    const slots = expand(listOf(lists, "slots"));
    const own = list.pages.filter(({ band }) => band === stateBand).map(({ id }) => id);
    const named = slots.length === pages.length ? slots : own.length === pages.length ? own : [];
    for (const [at, slot] of named.entries()) reveal(books, slot, pages[at]!); // as many
  }
}

function releasePages(
  books: Books,
  band: BandBook,
  ids: readonly number[],
  freed: Extents,
  deferred: Extents,
  order: ListOrder,
): void {
  if (ids.length === 0 && freed.length === 0 && deferred.length === 0) return;
  const now: number[] = [];
  const later: number[] = [];
  for (const id of ids) {
    const page = band.placeOf(id);
    const isTouched = band.peek(page)?.uses.some((use) => use.kind === "transfer") === true;
    (isTouched ? later : now).push(page);
  }
  const lists = { now, later, freed: expand(freed), deferred: expand(deferred) };
  comparePages(books, band, lists, order);
  const places = new Map(lists.freed.map((page, at) => [page, at]));
  const inListedOrder = (left: number, right: number): number =>
    (places.get(band.placeOf(left)) ?? 0) - (places.get(band.placeOf(right)) ?? 0);
  for (const id of order === "any" ? [...ids].sort(inListedOrder) : ids) {
    const page = band.placeOf(id);
    const { uses } = band.record(page);
    const transfers = uses.filter((use) => use.kind === "transfer");
    if (transfers.length > 0) {
      band.given.add(id);
      books.deferred.push({ band, id, transfers });
    } else if (places.has(page)) letGo(books, band, id);
    else band.given.delete(id); // stays bound, held by nobody: a leak
  }
}

/** Ends a binding; the page pends under the newest forward in flight. @internal */
export function letGo(books: Books, band: BandBook, id: number): void {
  const record = band.unbind(id);
  const newest = books.uses.newestRecorded();
  if (record === null || newest === undefined) return;
  let batch = band.batches.at(-1);
  if (batch?.forward !== newest.serial || batch.isTouched) {
    batch = { forward: newest.serial, pages: [], isTouched: false };
    band.batches.push(batch);
  }
  batch.pages.push(record.page);
  record.batch = batch;
}

interface ComparedPages {
  readonly now: readonly number[];
  readonly later: readonly number[];
  readonly freed: readonly number[];
  readonly deferred: readonly number[];
}

function comparePages(books: Books, band: BandBook, lists: ComparedPages, order: ListOrder): void {
  const { now, later, freed, deferred } = lists;
  if (isSame(now, freed) && isSame(later, deferred)) return;
  const before = books.found.length;
  const due = new Map([
    ...now.map((page) => [page, "free"] as const),
    ...later.map((page) => [page, "defer"] as const),
  ]);
  const seen = new Set<number>();
  for (const [does, pages] of [
    ["free", freed],
    ["defer", deferred],
  ] as const) {
    for (const page of pages) {
      const about = { band, page };
      const what = `${band.name} page ${page}`;
      if (seen.has(page)) books.report("free.unbound", `${what} is freed twice`, about);
      else if (due.has(page) && due.get(page) !== does)
        books.report(
          "free.deferred",
          does === "free"
            ? `${what} is freed, and a transfer touches it`
            : `${what} is deferred, and no transfer touches it`,
          about,
        );
      else if (!due.has(page) && band.idAt(page) === 0)
        books.report("free.unbound", `${what} is freed, and nothing is bound to it`, about);
      else if (!due.has(page))
        books.report(
          "free.foreign",
          `${what} is freed, and ${books.op} does not give it back`,
          about,
        );
      seen.add(page);
    }
  }
  for (const page of due.keys()) {
    if (seen.has(page) || page === 0) continue;
    const taken = band.record(page).takenAt;
    books.report(
      "free.missing",
      `${band.name} page ${page} is given back and not listed (taken by operation ${taken})`,
      { band, page },
    );
  }
  if (order === "listed" && books.found.length === before && !due.has(0))
    books.report(
      "free.order",
      `${band.name} pages ${freed.join(", ")} are not freed in token order`,
      { band },
    );
}

function releaseIds(
  books: Books,
  kind: "virtual" | "slots",
  ids: readonly number[],
  waits: (id: number) => boolean,
  waiting: Set<number>,
  lists: FreedLists,
  order: ListOrder,
): void {
  const freed = expand(listOf(lists.freed, kind));
  const deferred = expand(listOf(lists.deferred, kind));
  if (ids.length === 0 && freed.length === 0 && deferred.length === 0) return;
  const later = ids.filter(waits);
  const now = ids.filter((id) => !waits(id));
  for (const id of later) waiting.add(id);
  const wrong = differenceOf(now, freed, order) ?? differenceOf(later, deferred, order);
  if (wrong !== null)
    books.report(
      wrong.isOrder ? "free.order" : wrong.isExtra ? "free.foreign" : "free.missing",
      `${kind} ${wrong.id} ${wrong.words}`,
      { component: kind },
    );
  const mint = kind === "virtual" ? books.owner : books.stateBand;
  const due = new Set(now);
  for (const id of freed) if (due.delete(id)) mint?.freeIds?.push(id);
  for (const id of due) mint?.freeIds?.push(id); // given back, though not listed
}

function differenceOf(
  own: readonly number[],
  listed: readonly number[],
  order: ListOrder,
): {
  readonly id: number;
  readonly words: string;
  readonly isExtra: boolean;
  readonly isOrder: boolean;
} | null {
  const mine = new Set(own);
  const extra = listed.find((id, at) => !mine.has(id) || listed.indexOf(id) < at);
  if (extra !== undefined)
    return {
      id: extra,
      words: "is listed as given back, and is not",
      isExtra: true,
      isOrder: false,
    };
  const theirs = new Set(listed);
  const missing = own.find((id) => !theirs.has(id));
  if (missing !== undefined)
    return { id: missing, words: "is given back and not listed", isExtra: false, isOrder: false };
  if (order === "any" || isSame(own, listed)) return null;
  return {
    id: listed[0] ?? 0,
    words: "is not listed in the order of the frees",
    isExtra: false,
    isOrder: true,
  };
}

/** Whether an id's page was freed and waits for a transfer. @internal */
export function isDeferred(books: Books, band: BandBook, id: number): boolean {
  return books.deferred.some((page) => page.band === band && page.id === id);
}

/** Frees what no transfer holds back any more. @internal */
export function releaseReady(books: Books, listed: PageLists): void {
  const isReady = ({
    transfers,
  }: {
    readonly transfers: readonly { readonly isOver: boolean }[];
  }): boolean => transfers.every(({ isOver }) => isOver);
  const ready = books.deferred.filter(isReady);
  books.deferred = books.deferred.filter((page) => !isReady(page));
  const list = new FreeList();
  for (const { band, id } of ready) {
    list.pages.push({ band, id });
    const ids = band.isState ? books.deferredIds.slots : books.deferredIds.virtual;
    const isLast = band.isState || !books.tokenBands.some((other) => isDeferred(books, other, id));
    if (isLast && ids.delete(id)) (band.isState ? list.slots : list.virtual).push(id);
  }
  release(books, list, { freed: listed }, "any");
}

function isSame(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, at) => value === right[at]);
}
