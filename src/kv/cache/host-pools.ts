// Host pages: one pool a sub-pool, handed out first in, first out. A host page is a place on the host for one page (one
// state) of its band, laid out as the band's entry; where two ends share one backing, counts and numbers stay a band's
// own (see layout/host.ts).
import type { LaneSum } from "../../base/digest.js";
import { hostExtents } from "../../base/extents.js";
import { IdQueue } from "../../base/id-queue.js";
import type { Extents, OperationError, PageLists } from "../../base/operations.js";

const FIELD = { free: 1, order: 32 } as const; // + band index

/** The host pools of one run, by band index. A band without a pool has one of no pages. @internal */
export class HostPools {
  readonly sizes: readonly number[]; // pages by band index
  readonly #names: readonly string[];
  readonly #free: readonly IdQueue[];

  constructor(names: readonly string[], sizes: readonly number[], digesting: boolean) {
    this.#names = names;
    this.sizes = sizes;
    this.#free = sizes.map((size, band) => {
      const queue = new IdQueue(digesting ? FIELD.order + band : 0, size);
      for (let page = 0; page < size; page++) queue.push(page);
      return queue;
    });
  }

  freeOf(band: number): number {
    return this.#free[band]!.length;
  }

  /** `refused_host` for the first band that lacks pages even if `credit` pages by band came back; null where none does. */
  shortage(need: readonly number[], credit?: readonly number[]): OperationError | null {
    for (const [band, pages] of need.entries()) {
      const free = this.#free[band]!.length;
      if (pages > free + (credit?.[band] ?? 0)) return { code: "refused_host", need: pages, free };
    }
    return null;
  }

  /** Takes the oldest free pages; there must be so many. Returns them by band index. */
  take(need: readonly number[]): number[][] {
    return need.map((pages, band) =>
      Array.from({ length: pages }, () => this.#free[band]!.shift()),
    );
  }

  /** Gives pages back to the tails of their free lists, in order. */
  give(pages: readonly (readonly number[])[]): void {
    for (const [band, list] of pages.entries())
      for (const page of list) this.#free[band]!.push(page);
  }

  /** Host pages by band index as the lists of an answer, chain order, empty ones left out. */
  listed(pages: readonly (readonly number[])[]): PageLists {
    const lists: Record<string, Extents> = {};
    for (const [band, list] of pages.entries())
      if (list.length > 0) lists[this.#names[band]!] = hostExtents(list);
    return lists;
  }

  /** Free pages in list order by band name, bands without a pool left out. */
  freeLists(): Record<string, Extents> {
    const lists: Record<string, Extents> = {};
    for (const [band, queue] of this.#free.entries())
      if (this.sizes[band]! > 0) lists[this.#names[band]!] = hostExtents(queue.toArray());
    return lists;
  }
  setFreeList(band: number, pages: readonly number[]): void {
    this.#free[band]!.replace(pages);
  }

  digestInto(sum: LaneSum, layout: boolean): void {
    for (const [band, queue] of this.#free.entries()) {
      if (this.sizes[band] === 0) continue;
      sum.add(FIELD.free, band, queue.length);
      if (layout) sum.join({ a: queue.orderA, b: queue.orderB });
    }
  }
}
