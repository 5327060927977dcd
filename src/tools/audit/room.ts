// How much of the arena is taken, by counts of pages, and what still has room beside it: on the run's own grids or, with
// pipeline stages, on those of every stage.
import type { BandGeometry } from "../../base/operations.js";
import type { BandBook, LeftPage } from "./band-book.js";
import type { Books } from "./books.js";
import { type BandCount, packs } from "./packing.js";

type Grid = Pick<BandGeometry, "grow" | "page_bytes" | "pages" | "first_page">;

/** Pages of a band that are live. @internal */
export function liveOf(books: Books, band: BandBook): number {
  if (!band.isState || books.unplaced.size === 0) return band.places.size;
  const anonymous = [...band.places.keys()].filter((id) => id < 0).length;
  return band.places.size + books.unplaced.size - anonymous;
}

/** Whether any layout holds what is live and a demand by band index; on every stage, where there are stages.
 * @param freed - [bands] pages that would be free before */
export function holds(books: Books, demand: readonly number[], freed: readonly number[]): boolean {
  const live = books.bands.map((band, index) => liveOf(books, band) - (freed[index] ?? 0));
  const idsInUse = books.bands.map(({ freeIds, pages, firstPage }, index) =>
    freeIds === null ? null : pages - firstPage - freeIds.length - (freed[index] ?? 0),
  );
  return gridsOf(books).every((grids) => packs(grids, countsOn(grids, live, idsInUse, demand)));
}

/** The same for an arena in which nothing is live. @internal */
export function holdsEmpty(books: Books, demand: readonly number[]): boolean {
  const none = books.bands.map(() => 0);
  return gridsOf(books).every((grids) => packs(grids, countsOn(grids, none, none, demand)));
}

/** The band, by index, whose grid could name no so many pages more, -1 for none. @internal */
export function indexShortage(books: Books, demand: readonly number[], spare = 0): number {
  const short = gridsOf(books)
    .map((grids) =>
      grids.findIndex(({ pages, first_page }, index) => {
        const wanted = demand[index] ?? 0;
        return (
          wanted > 0 && wanted > pages - first_page - liveOf(books, books.bands[index]!) - spare
        );
      }),
    )
    .filter((index) => index >= 0);
  return short.length === 0 ? -1 : Math.min(...short);
}

/** Pages that moves may have left while somebody still reads them, all bands together: a grid counts them as taken. @internal */
export function vacatedMost(books: Books): number {
  if (books.stages !== null) return 0; // a flush takes them back before anything is refused
  let most = 0;
  for (const { left } of books.bands)
    for (const page of left) if (isStillRead(books, page)) most += 1;
  return most;
}

/** Whether a page that a move left may still be read. @internal */
export function isStillRead({ uses }: Books, page: LeftPage): boolean {
  return page.forward > uses.retiredThrough || page.uses.some(({ isOver }) => !isOver);
}

/** Whether counts of pages alone tell which layouts there are: nothing is fixed (a load cancelled in a group is until its
 * end, window pages that no id names are until their copy is done), no transfer is open; or all stages have to agree,
 * which know of each other nothing but counts. @internal */
export function countsDecide(books: Books): boolean {
  // with stages nothing is granted until a load has named its window pages
  if (books.stages !== null) return books.loads.size === 0;
  if (books.group !== null || books.loads.size > 0 || books.transfers.size > 0) return false;
  for (const { load } of books.copies.open.values())
    if (load?.windows.some(({ id }) => id < 0) === true) return false;
  return true;
}

function gridsOf(books: Books): readonly (readonly Grid[])[] {
  if (books.stages !== null) return books.stages;
  const own = books.bands.map(({ grow, pageBytes, pages, firstPage }) => {
    return { grow, page_bytes: pageBytes, pages, first_page: firstPage };
  });
  return [own];
}

function countsOn(
  grids: readonly Grid[],
  live: readonly number[],
  idsInUse: readonly (number | null)[],
  demand: readonly number[],
): readonly BandCount[] {
  return grids.map(({ pages, first_page }, index) => {
    const taken = Math.max(live[index]!, idsInUse[index] ?? 0); // one a band
    return { live: live[index]!, wanted: demand[index] ?? 0, room: pages - first_page - taken };
  });
}
