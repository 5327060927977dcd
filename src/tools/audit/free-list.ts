// What somebody gives back: pages by band and id, and the ids themselves.
import type { BandBook } from "./band-book.js";

/** Where slots lie, as far as it is known. */
interface SlotPlaces {
  readonly stateBand: BandBook | null;
  readonly unplaced: ReadonlyMap<number, number>;
}

/** What is given back, in the order in which it is to be listed. @internal */
export class FreeList {
  readonly pages: { readonly band: BandBook; readonly id: number }[] = [];
  readonly virtual: number[] = [];
  readonly slots: number[] = [];

  /** The id's page of one band, if it is bound there and was not given back before. */
  page(band: BandBook, id: number): void {
    if (band.isHeld(id)) this.pages.push({ band, id });
  }
  /** A virtual id with its pages in all bands. */
  whole(books: { readonly tokenBands: readonly BandBook[] }, id: number): void {
    for (const band of books.tokenBands) this.page(band, id);
    this.virtual.push(id);
  }
  slot(books: SlotPlaces, slot: number): void {
    const band = books.stateBand;
    if (band === null) return;
    if (books.unplaced.has(slot)) this.pages.push({ band, id: slot });
    else this.page(band, slot);
    this.slots.push(slot);
  }
}
