// What host copies, network transfers and load reservations do at places of the arena until they are over. A use names
// physical pages: it goes on at the place where the page lay when it began, whoever is bound there later.
import type { BandPages } from "./model-pages.js";

/** One copy, transfer or reservation. @internal */
export interface ModelUse {
  readonly name: string; // `c1`, `t1`, `l1`
  readonly kind: "copy" | "transfer" | "reservation";
  readonly writes: boolean; // it writes its places; else it reads them
  readonly places: readonly (readonly number[])[]; // physical pages by band index
  isOver: boolean;
}

const NONE: readonly ModelUse[] = [];

/** Uses that are not over, by place. @internal */
export class OpenUses {
  count = 0; // uses; while there are none nobody looks places up
  readonly #at: Map<number, ModelUse[]>[] = []; // by band index, by page

  constructor(bands: number) {
    for (let index = 0; index < bands; index++) this.#at.push(new Map());
  }

  open(use: ModelUse): void {
    this.count += 1;
    for (const [index, pages] of use.places.entries()) {
      const at = this.#at[index]!; // one map a band
      for (const page of pages) {
        const uses = at.get(page);
        if (uses === undefined) at.set(page, [use]);
        else uses.push(use);
      }
    }
  }

  close(use: ModelUse): void {
    if (use.isOver) return;
    use.isOver = true;
    this.count -= 1;
    for (const [index, pages] of use.places.entries()) {
      const at = this.#at[index]!; // one map a band
      for (const page of pages) {
        const uses = at.get(page) ?? [];
        const rest = uses.filter((other) => other !== use);
        if (rest.length === 0) at.delete(page);
        else at.set(page, rest);
      }
    }
  }

  /** Uses at a page, oldest first. */
  at(band: BandPages, page: number): readonly ModelUse[] {
    return this.#at[band.index]!.get(page) ?? NONE; // one map a band
  }

  /** The oldest use that writes a page, or null. */
  writerAt(band: BandPages, page: number): ModelUse | null {
    return this.at(band, page).find((use) => use.writes) ?? null;
  }

  /** Transfers at a page: while there are any, its free waits. */
  transfersAt(band: BandPages, page: number): readonly ModelUse[] {
    if (this.count === 0) return NONE;
    return this.at(band, page).filter((use) => use.kind === "transfer");
  }
}
