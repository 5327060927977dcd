// Slots whose page is not known: `state.donate` answers the id of the replacement and not its page, so the page is learned
// where it first shows. Until then a page that moves from a free place is one of theirs, whichever.
import type { Books } from "./books.js";

/** Says where a slot lies, if that was not known. @internal */
export function reveal(books: Books, slot: number, page: number): void {
  const band = books.stateBand;
  const takenAt = books.unplaced.get(slot);
  if (band === null || takenAt === undefined || !band.isUsable(page)) return;
  const record = band.record(page);
  if (record.id > 0) return;
  if (record.id < 0) band.rename(record.id, slot, record.boundAt);
  else band.bind(slot, page, takenAt);
  record.takenAt = takenAt;
  books.unplaced.delete(slot);
}

/** Takes a free state page for that of some slot without a known place; false where there is none. @internal */
export function revealSome(books: Books, page: number): boolean {
  const band = books.stateBand;
  if (band === null) return false;
  const anonymous = [...band.places.keys()].filter((id) => id < 0).length;
  if (books.unplaced.size <= anonymous) return false;
  const takenAt = Math.max(...books.unplaced.values());
  band.bind(books.placeholder(), page, takenAt).takenAt = takenAt;
  return true;
}
