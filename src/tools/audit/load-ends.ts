// How loads from the host end: given up, or taken into the tree.
import { expand } from "../../base/extents.js";
import type { FreedOk } from "../../base/operations.js";
import type { BandBook } from "./band-book.js";
import { type Books, listOf } from "./books.js";
import { FreeList } from "./free-list.js";
import { giveBack } from "./give-back.js";
import type { LoadBook } from "./load-book.js";
import { removeSlot, type RowBook, shortenTo } from "./row-book.js";

/** All that a load took goes; of a row only what still stands in it and is not the tree's. @internal */
export function giveUp(books: Books, load: LoadBook, ok: FreedOk): void {
  const list = new FreeList();
  const own = new Set(load.ids);
  for (const { band, id } of load.windows) {
    band.unpublished.delete(id);
    if (id < 0 || !own.has(id)) list.page(band, id);
  }
  const { row } = load;
  const isOpen = row !== null && books.rows.get(row.req) === row;
  let last = -1;
  // Ids end their reservation now; a page without one keeps it until it is freed.
  for (const id of load.ids) unfix(books.owner, id);
  for (const slot of books.stateBand === null ? [] : load.slots) unfix(books.stateBand!, slot);
  for (const [at, id] of load.ids.entries()) {
    if (row === null) list.whole(books, id);
    else if (isOpen && row.ids[load.positions[at]!] === id && !books.tree.pageOf.has(id)) {
      last = load.positions[at]!; // one an id
      list.whole(books, id);
      row.ids[last] = 0;
    }
  }
  for (const slot of load.slots) {
    if (row === null || (isOpen && row.slots.main.includes(slot) && removeSlot(row, slot)))
      list.slot(books, slot);
  }
  giveBack(books, list, ok, "any");
  if (row !== null && isOpen) shorten(books, load, row, last);
}

function unfix(band: BandBook, id: number): void {
  const page = band.placeOf(id);
  if (page !== 0) band.record(page).fixedBy = "";
}

function shorten(books: Books, load: LoadBook, row: RowBook, last: number): void {
  const isTail = last >= 0 && books.pagesOf(row.allocated) === last + 1;
  const left = isTail ? Math.max(load.from, row.protected) : row.allocated;
  const rowEnd = books.pagesOf(left) * books.pageSize;
  for (const { index } of books.windows) {
    const before = load.cursorsBefore[index]!; // one a band, as below
    const now = row.cursors[index]!;
    if (now === load.cursorsSet[index]) row.cursors[index] = Math.max(before, row.protected);
    else if (now > rowEnd) row.cursors[index] = Math.max(rowEnd, before);
  }
  if (!isTail) return;
  row.ids.length = books.pagesOf(left);
  shortenTo(row, left);
}

/** The tree has what a load by key brought; what somebody else brought there meanwhile is freed, as the answer lists it. @internal */
export function publish(books: Books, load: LoadBook, ok: FreedOk): void {
  const list = new FreeList();
  const listed = (band: BandBook): Set<number> =>
    new Set([...expand(listOf(ok.freed, band.name)), ...expand(listOf(ok.deferred, band.name))]);
  for (const { band, id } of load.windows) {
    band.unpublished.delete(id);
    if (id < 0 || (!load.ids.includes(id) && listed(band).has(band.placeOf(id))))
      list.page(band, id);
  }
  for (const [at, id] of load.ids.entries()) {
    const node = load.lacking[at];
    if (node?.id === 0) books.tree.setPage(node, id);
    else list.whole(books, id);
  }
  const end = load.path?.at(-1);
  for (const slot of load.slots) {
    if (end?.state === 0) books.tree.setState(end, slot);
    else list.slot(books, slot);
  }
  giveBack(books, list, ok, "any");
}
