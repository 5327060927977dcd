// Pages and ids that an answer hands out: free until now, under the oldest free ids, zeroed where they hold tokens.
import { expand } from "../../base/extents.js";
import type { PageLists } from "../../base/operations.js";
import type { BandBook, PageRecord } from "./band-book.js";
import { type Books, listOf } from "./books.js";
import type { Shown } from "./effects.js";
import { checkFresh, type Writer } from "./hazards.js";
import { type RowBook, setId } from "./row-book.js";

/** What a take hands out by band, in order: the pages that its zeroing must name. @internal */
export type HandedOut = Map<BandBook, number[]>;

/** Takes an id from its free list, of which it must be the oldest. @internal */
export function takeId(books: Books, band: BandBook, id: number): void {
  const { freeIds } = band;
  const about = { band };
  const kind = band.isState ? "slot" : "virtual";
  if (freeIds === null) return;
  if (freeIds.length > 0 && freeIds.at(0) === id) freeIds.shift();
  else {
    const oldest =
      freeIds.length === 0 ? "none is free" : `${freeIds.at(0)} is the oldest free one`;
    const rest = freeIds.toArray();
    books.report(
      rest.includes(id) ? "id.order" : "id.bound",
      `hands out ${kind} ${id}, ${oldest}`,
      about,
    );
    freeIds.replace(rest.filter((other) => other !== id));
  }
}

/** Binds a page that was handed out to its id. @internal */
export function handOut(
  books: Books,
  band: BandBook,
  id: number,
  page: number,
  writer: Writer,
): void {
  const before = band.placeOf(id);
  if (before !== 0) {
    books.report("id.bound", `${band.name}: id ${id} is handed out and bound to page ${before}`, {
      band,
      page: before,
    });
    band.unbind(id);
  }
  checkFresh(books, writer, band, page);
  if (!band.isUsable(page)) return;
  const record = band.record(page);
  checkOrder(books, band, record);
  if (record.batch !== null) record.batch.isTouched = true;
  record.batch = null;
  if (record.id !== 0) band.unbind(record.id); // told above: its old holder has lost it
  band.bind(id, page, books.n).takenAt = books.n;
}

// Holes come before growth, and growth ascends. A page that nothing ever lay in is no hole.
function checkOrder(books: Books, band: BandBook, { page, boundAt }: PageRecord): void {
  const { n, page: before, isFresh } = band.last;
  const goesOn = n === books.n && isFresh;
  if (goesOn && page !== before + 1)
    books.report(
      "page.order",
      `${band.name} page ${page} is handed out behind page ${before}, to which the band grew`,
      { band, page },
    );
  band.last = { n: books.n, page, isFresh: goesOn || boundAt < 0 };
}

/** Positions that one part of a take gives a row, `[first, end)`, windows from `windowFrom` on. @internal */
export interface Growth {
  readonly row: RowBook;
  readonly first: number;
  readonly end: number;
  readonly windowFrom: number;
}

/** Hands a row's growths what the answer lists for it. @internal */
export function growRow(
  books: Books,
  growths: readonly Growth[],
  lists: PageLists | undefined,
  out: HandedOut,
): void {
  const count = growths.reduce((sum, { first, end }) => sum + end - first, 0);
  const req = growths[0]?.row.req ?? "";
  const virtual = expand(listOf(lists, "virtual"));
  if (virtual.length !== count)
    books.report("take.pages", `${req} gets ${virtual.length} ids for ${count} pages`, {
      component: "virtual",
    });
  let at = 0;
  const places = books.tokenBands.map((band) => ({
    band,
    pages: expand(listOf(lists, band.name)),
  }));
  for (const { band, pages } of places) {
    if (
      pages.length !== count &&
      !(
        band.isWindow &&
        pages.length === 0 &&
        growths.every(({ windowFrom, end }) => windowFrom >= end)
      )
    )
      books.report(
        "take.pages",
        `${req} gets ${pages.length} pages of ${band.name} for ${count} positions`,
        { band },
      );
  }
  for (const { row, first, end, windowFrom } of growths) {
    for (let position = first; position < end; position++) {
      const id = virtual[at] ?? 0;
      if (id !== 0) {
        takeId(books, books.owner, id);
        setId(row, position, id, books.n);
      }
      for (const { band, pages } of places) {
        const page = pages[at] ?? 0;
        const isSkipped = band.isWindow && position < windowFrom;
        if (isSkipped !== (page === 0) && at < pages.length)
          books.report(
            "take.pages",
            `${req} gets ${page === 0 ? "no" : "a"} ${band.name} page at position ${position} of its row`,
            { band },
          );
        if (page === 0 || id === 0) continue;
        handOut(books, band, id, page, "hand-out");
        push(out, band, page);
      }
      at += 1;
    }
  }
}

/** Notes a page that was handed out. @internal */
export function push(out: HandedOut, band: BandBook, page: number): void {
  const pages = out.get(band);
  if (pages === undefined) out.set(band, [page]);
  else pages.push(page);
}

/** Slots that an answer hands out, in order. @internal */
export function takeSlots(
  books: Books,
  lists: PageLists,
  count: number,
  writer: Writer,
): readonly number[] {
  const band = books.stateBand;
  const slots = expand(listOf(lists, "slots"));
  const pages = band === null ? [] : expand(listOf(lists, band.name));
  if (slots.length !== count || pages.length !== count)
    books.report(
      "take.pages",
      `${count} slots are asked for, ${slots.length} come with ${pages.length} pages`,
      { band: band ?? undefined },
    );
  if (band === null) return [];
  for (const [at, slot] of slots.entries()) {
    takeId(books, band, slot);
    if (at < pages.length) handOut(books, band, slot, pages[at]!, writer);
  }
  return slots;
}

/** What is zeroed is what was handed out, in that order; nothing of it where `out` is null. @internal */
export function checkZeroing(books: Books, shown: Shown, out: HandedOut | null): void {
  for (const band of books.bands) {
    const zeroed = shown.zeroed.get(band) ?? [];
    const due = band.isState ? [] : (out?.get(band) ?? []);
    const isZeroed = new Set(zeroed);
    for (const page of due) {
      if (!isZeroed.has(page))
        books.reportMissing(
          "zero.missing",
          `${band.name} page ${page} is handed out and not zeroed`,
          { band, page },
        );
    }
    const isDue = new Set(due);
    const seen = new Set<number>();
    for (const page of zeroed) {
      if (!isDue.has(page) || seen.has(page))
        books.report(
          "zero.extra",
          `${band.name} page ${page} is zeroed ${seen.has(page) ? "twice" : "and not handed out"}`,
          { band, page },
        );
      seen.add(page);
    }
    if (
      zeroed.length === due.length &&
      zeroed.every((page) => isDue.has(page)) &&
      zeroed.some((page, at) => page !== due[at])
    )
      books.report(
        "zero.extra",
        `${band.name} pages are zeroed in another order than they are handed out`,
        { band },
      );
  }
}
