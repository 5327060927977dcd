// Which page an id is bound to: a plain list by id, 0 where there is none. A list, because the world is copied before
// every operation and a list of numbers copies in one go.

/** Ids (virtual ids, slot ids; from 1) and their pages. Page 0 is the sink, nothing is bound to it. @internal */
export class Bindings {
  #pages: number[] = []; // by id, 0: unbound
  #size = 0;

  /** Bound ids. */
  get size(): number {
    return this.#size;
  }

  get(id: number): number | undefined {
    const page = this.#pages[id] ?? 0;
    return page > 0 ? page : undefined;
  }

  has(id: number): boolean {
    return this.get(id) !== undefined;
  }

  set(id: number, page: number): void {
    while (this.#pages.length <= id) this.#pages.push(0);
    if (!this.has(id)) this.#size += 1;
    this.#pages[id] = page;
  }

  delete(id: number): void {
    if (!this.has(id)) return;
    this.#size -= 1;
    this.#pages[id] = 0;
  }

  /** Every bound id with its page, ids ascending. */
  forEach(visit: (id: number, page: number) => void): void {
    this.#pages.forEach((page, id) => {
      if (page > 0) visit(id, page);
    });
  }

  /** The same as pairs. */
  entries(): [id: number, page: number][] {
    const pairs: [number, number][] = [];
    this.forEach((id, page) => pairs.push([id, page]));
    return pairs;
  }

  /** Bound pages, by ascending id. */
  pages(): number[] {
    return this.#pages.filter((page) => page > 0);
  }

  copy(): Bindings {
    const copy = new Bindings();
    copy.#pages = this.#pages.slice();
    copy.#size = this.#size;
    return copy;
  }
}
