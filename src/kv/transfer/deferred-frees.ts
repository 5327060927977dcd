// Frees that wait for transfers: a page that an unreleased transfer touches stays live, with its id, until the last
// such transfer ends. Who freed it has let go of it at once.
import type { Extents } from "../../base/operations.js";
import { toExtents } from "../../base/extents.js";
import type { Band } from "../alloc/band.js";
import { isOver, type NetworkTransfer } from "../alloc/signals.js";

/** One page whose free waits. @internal */
export interface DeferredPage {
  readonly band: Band;
  readonly id: number; // virtual page or slot
  readonly transfers: readonly NetworkTransfer[];
}

/** Virtual ids that wait for the last of their pages, in the order in which they were let go of. @internal */
export class WaitingIds {
  readonly #turns = new Map<number, number>(); // by id
  #given = 0;

  add(id: number): void {
    this.#turns.set(id, this.#given++);
  }
  delete(id: number): void {
    this.#turns.delete(id);
  }
  /** Those of `ids` that wait, each once, in their order. */
  inOrder(ids: readonly number[]): readonly number[] {
    const waiting = [...new Set(ids)].filter((id) => this.#turns.has(id));
    return waiting.sort((left, right) => this.#turns.get(left)! - this.#turns.get(right)!); // they wait
  }
  [Symbol.iterator](): Iterator<number> {
    return this.#turns.keys();
  }
}

/** All frees that wait, in call order. @internal */
export class DeferredFrees {
  #pages: DeferredPage[] = [];
  readonly #waiting: Set<number>[] = []; // ids by band index
  /** Virtual ids and slots that go back with their last page. */
  readonly virtual = new WaitingIds();
  readonly slots = new Set<number>();
  version = 0;

  constructor(bands: number) {
    for (let index = 0; index < bands; index++) this.#waiting.push(new Set());
  }

  get isEmpty(): boolean {
    return this.#pages.length === 0;
  }
  get pages(): readonly DeferredPage[] {
    return this.#pages;
  }

  add(page: DeferredPage): void {
    this.#pages.push(page);
    this.#waiting[page.band.index]!.add(page.id); // one set a band
    this.version += 1;
  }
  /** Whether a band's page of this id is freed already and only waits. */
  has(band: Band, id: number): boolean {
    return this.#pages.length > 0 && this.#waiting[band.index]!.has(id);
  }

  /** Takes out what no transfer holds back any more, in call order. */
  takeReady(): readonly DeferredPage[] {
    const ready = this.#pages.filter(({ transfers }) => transfers.every((use) => isOver(use)));
    if (ready.length === 0) return ready;
    this.#pages = this.#pages.filter((page) => !ready.includes(page));
    for (const { band, id } of ready) this.#waiting[band.index]!.delete(id);
    this.version += 1;
    return ready;
  }

  /** Ids of one band that wait, for the state and the idle check. */
  idsOf(band: Band): Extents {
    return toExtents(this.#pages.filter((page) => page.band === band).map(({ id }) => id));
  }
}
