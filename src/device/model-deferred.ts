// Frees that wait for transfers: whoever held the page has let go of it, and yet it stays bound and live until the last
// transfer that touches it is over.
import type { BandPages } from "./model-pages.js";
import type { ModelUse } from "./model-uses.js";

/** One page whose free waits. @internal */
export interface DeferredPage {
  readonly band: BandPages;
  readonly id: number; // virtual page or slot
  readonly transfers: readonly ModelUse[];
}

/** All frees that wait, in call order. @internal */
export class DeferredFrees {
  #pages: DeferredPage[] = [];
  readonly #waiting: readonly Set<number>[]; // ids by band index
  /** Virtual pages and slots that go back with their last page. */
  readonly virtual = new Set<number>();
  readonly slots = new Set<number>();

  constructor(bands: number) {
    this.#waiting = Array.from({ length: bands }, () => new Set<number>());
  }

  add(page: DeferredPage): void {
    this.#pages.push(page);
    this.#waiting[page.band.index]!.add(page.id); // one set a band
  }

  /** Whether a band's page of this id was given back and only waits. */
  has(band: BandPages, id: number): boolean {
    return this.#pages.length > 0 && this.#waiting[band.index]!.has(id); // one set a band
  }

  /** Takes out what no transfer holds back any more, in call order. */
  takeReady(): readonly DeferredPage[] {
    const ready = this.#pages.filter(({ transfers }) => transfers.every((use) => use.isOver));
    if (ready.length === 0) return ready;
    this.#pages = this.#pages.filter(({ transfers }) => !transfers.every((use) => use.isOver));
    for (const { band, id } of ready) this.#waiting[band.index]!.delete(id); // one set a band
    return ready;
  }
}
