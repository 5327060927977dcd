// A known limitation, counted and no violation: the pages of a failed or timed-out transfer go back without proof that the
// peer's engine stopped. Its late reads may then see the next owner's bytes, its late writes land in them.
import type { BandPages } from "./model-pages.js";

/** Pages remembered; the oldest are forgotten. */
const PAGES_MAX = 65_536;

/** What an engine that never proved its end may still do, as `ModelDevice.limitations` names it. @public */
export type Limitation = "late_read_of_failed_send" | "late_write_of_failed_receive";

/** Places that a transfer, over for the allocator, may still touch. @internal */
export class StrayTransfers {
  readonly #at = new Map<string, Limitation>(); // by band and page, oldest first
  readonly #counts = new Map<Limitation, number>();

  get size(): number {
    return this.#at.size;
  }
  /** Pages that were written again while an engine may still have touched them, by kind. */
  get counts(): ReadonlyMap<Limitation, number> {
    return this.#counts;
  }

  /** @param places - physical pages by band index */
  add(
    bands: readonly BandPages[],
    places: readonly (readonly number[])[],
    limitation: Limitation,
  ): void {
    for (const band of bands)
      for (const page of places[band.index]!) this.#at.set(`${band.index} ${page}`, limitation);
    for (const oldest of this.#at.keys()) {
      if (this.#at.size <= PAGES_MAX) return;
      this.#at.delete(oldest);
    }
  }

  /** Notes that somebody writes a page. */
  meet(band: BandPages, page: number): void {
    const key = `${band.index} ${page}`;
    const limitation = this.#at.get(key);
    if (limitation === undefined) return;
    this.#at.delete(key);
    this.#counts.set(limitation, (this.#counts.get(limitation) ?? 0) + 1);
  }
}
