// Extent lists: ordered ids as `[first, count]` runs, merged greedily from the left; a descending run has a negative
// count, a single id has count 1.
import type { Extent, Extents } from "./values.js";

/** Collects ids in order into merged extents. Reusable after `take()`. @internal */
export class ExtentBuilder {
  #list: Extent[] = [];
  #first = 0;
  #last = 0;
  #count = 0; // signed length of the open run, 0 = none

  /** Appends one id (> 0; ids of unbound pages go through `addUnbound`). */
  add(id: number): void {
    const count = this.#count;
    if (count > 0 && id === this.#last + 1) {
      this.#count = count + 1;
    } else if (count !== 0 && count <= 1 && id === this.#last - 1) {
      this.#count = count === 1 ? -2 : count - 1;
    } else {
      if (count !== 0) this.#list.push([this.#first, count]);
      this.#first = id;
      this.#count = 1;
    }
    this.#last = id;
  }

  /** Appends `count` unbound pages, written `[0, count]`. */
  addUnbound(count: number): void {
    if (count === 0) return;
    this.#close();
    const previous = this.#list.at(-1);
    if (previous?.[0] === 0) this.#list[this.#list.length - 1] = [0, previous[1] + count];
    else this.#list.push([0, count]);
  }

  /** True while nothing was added since the last `take()`. */
  get isEmpty(): boolean {
    return this.#count === 0 && this.#list.length === 0;
  }

  /** The list so far; the builder starts anew. */
  take(): Extents {
    this.#close();
    const list = this.#list;
    this.#list = [];
    return list;
  }

  #close(): void {
    if (this.#count !== 0) this.#list.push([this.#first, this.#count]);
    this.#count = 0;
  }
}

const SHARED = new ExtentBuilder();

/** Merges ids in order. @public */
export function toExtents(ids: readonly number[]): Extents {
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index]!; // index is in range
    if (id === 0) SHARED.addUnbound(1);
    else SHARED.add(id);
  }
  return SHARED.take();
}

/** Every id of the list in order; `[0, k]` yields k zeros. @public */
export function* idsOf(extents: Extents): Generator<number> {
  for (const [first, count] of extents) {
    if (first === 0) for (let i = 0; i < count; i++) yield 0;
    else if (count > 0) for (let i = 0; i < count; i++) yield first + i;
    else for (let i = 0; i > count; i--) yield first + i;
  }
}

/** Ids as an array, in order. @public */
export function expand(extents: Extents): number[] {
  return [...idsOf(extents)];
}

/** Number of ids, unbound ones included. @public */
export function countOf(extents: Extents): number {
  let total = 0;
  for (const [, count] of extents) total += count < 0 ? -count : count;
  return total;
}

/** Merges ids in order of a space that has an id 0 (host pages): there 0 marks nothing unbound. @public */
export function hostExtents(ids: readonly number[]): Extents {
  for (const id of ids) SHARED.add(id);
  return SHARED.take();
}

/** Every id of a list of such a space, in order. @public */
export function expandHost(extents: Extents): number[] {
  const ids: number[] = [];
  for (const [first, count] of extents) {
    const step = count < 0 ? -1 : 1;
    for (let index = 0; index < Math.abs(count); index++) ids.push(first + step * index);
  }
  return ids;
}
