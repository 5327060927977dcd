// The clearance rule on bytes: who is about to write must have waited everybody who may still use the bytes, whichever band
// they belonged to, and no live page may lie there.
import type { AuditRule } from "./rules.js";
import { type BandBook, bytesOf, type PageRecord, type PlaceUse } from "./band-book.js";
import type { Books } from "./books.js";
import type { RowBook } from "./row-book.js";
import type { Forward } from "./uses.js";

/** Who writes. A load's copy stream waits the forwards by itself. @internal */
export type Writer = "zeroing" | "move" | "state copy" | "hand-out" | "load";

/** Visits every page of any band, known here, that shares bytes with one page. @internal */
export function eachOverlap(
  books: Books,
  band: BandBook,
  page: number,
  visit: (other: BandBook, record: PageRecord) => void,
): void {
  const [from, to] = bytesOf(band, page);
  for (const other of books.bands) {
    const last = Math.min(other.pages, Math.ceil(to / other.pageBytes));
    for (let at = Math.floor(from / other.pageBytes); at < last; at++) {
      const record = other.peek(at);
      if (record !== undefined) visit(other, record);
    }
  }
}

/** Checks a page that is about to be written although nothing live lies there. @internal */
export function checkFresh(books: Books, writer: Writer, band: BandBook, page: number): void {
  const about = { band, page };
  const what = `${writer} of ${band.name} page ${page}`;
  if (!band.isUsable(page)) {
    const range = `${band.firstPage} to ${band.pages - 1}`;
    books.report("page.range", `${what}, usable are ${range}`, about);
    return;
  }
  // Zeroed in this operation: all that is left to see is what it has handed out since.
  const isZeroed = writer !== "zeroing" && band.record(page).zeroedAt === books.n;
  eachOverlap(books, band, page, (other, record) => {
    if (record.id !== 0 && !(isZeroed && record.boundAt !== books.n)) {
      const same = other === band;
      const held = same
        ? "is live"
        : `shares bytes with ${other.name} page ${record.page}, which is live`;
      const rule = same ? (writer === "move" ? "move.target" : "page.live") : "bytes.disjoint";
      books.report(rule, `${what}, which ${held} (taken by operation ${record.takenAt})`, about);
    }
    if (!isZeroed) checkUses(books, what, writer, record, about);
  });
}

function checkUses(
  books: Books,
  what: string,
  writer: Writer,
  record: PageRecord,
  about: { readonly band: BandBook; readonly page: number },
): void {
  if (writer !== "load") {
    const running = books.uses.running(Math.max(record.reader, record.writer));
    if (running !== undefined) missing(books, "wait.forward", what, running.name, about);
  }
  const pending = record.batch === null ? undefined : books.uses.running(record.batch.forward);
  if (pending !== undefined) missing(books, "wait.pending", what, pending.name, about);
  for (const use of record.uses) missing(books, ruleOf(use), what, use.name, about);
}

function ruleOf(use: PlaceUse): AuditRule {
  return use.kind === "copy" ? "wait.copy" : "wait.network";
}

function missing(
  books: Books,
  rule: AuditRule,
  what: string,
  signal: string,
  about: { readonly band: BandBook; readonly page: number },
): void {
  books.report(rule, `${what}, and nothing waits ${signal} first`, { ...about, actors: [signal] });
}

/** What somebody who touches live pages must have waited. @internal */
export interface Clearance {
  readonly forwards: "none" | "writers" | "all";
  readonly copies: "writers" | "all";
  readonly transfers: "none" | "writers" | "all";
}

/** Checks a live page that is about to be read, moved, copied or published. @internal */
export function checkLive(
  books: Books,
  what: string,
  band: BandBook,
  page: number,
  need: Clearance,
): void {
  const record = band.peek(page);
  if (record === undefined) return;
  const about = { band, page };
  if (need.forwards !== "none") {
    const serial = need.forwards === "all" ? Math.max(record.reader, record.writer) : record.writer;
    const running: Forward | undefined = books.uses.running(serial) ?? books.uses.unknownWriter();
    if (running !== undefined) missing(books, "wait.forward", what, running.name, about);
  }
  for (const use of record.uses) {
    const scope = use.kind === "copy" ? need.copies : need.transfers;
    if (scope === "none" || (scope === "writers" && !use.writes)) continue;
    missing(books, ruleOf(use), what, use.name, about);
  }
}

/** Notes on the pages themselves what a row's newest forward reads: the row is about to change, or a page to move. @internal */
export function markReads(books: Books, row: RowBook): void {
  const { forward } = row;
  row.forward = null;
  if (forward === null || forward.serial <= books.uses.retiredThrough) return;
  const most = Math.min(row.readPages, row.ids.length);
  for (let page = 0; page < most; page++) {
    const id = row.ids[page]!; // below the length
    if (id === 0 || row.since[page]! >= forward.launchedAt) continue;
    for (const band of books.tokenBands) {
      if (!band.isHeld(id)) continue;
      const record = band.record(band.placeOf(id));
      if (record.boundAt >= forward.launchedAt) continue; // came later: none of its business
      record.reader = Math.max(record.reader, forward.serial);
    }
  }
}

/** The same for every forward in flight. @internal */
export function markAllReads(books: Books): void {
  for (const forward of books.uses.forwards) {
    if (forward.serial <= books.uses.retiredThrough) continue;
    for (const req of forward.reqs) {
      const row = books.rows.get(req);
      if (row !== undefined) markReads(books, row);
    }
  }
}
