// Implementations kept for reuse, as many as work at once.

/** @internal */
export class Pool<T> {
  readonly #make: () => T;
  readonly #idle: T[] = [];
  readonly #all: T[] = [];

  constructor(make: () => T) {
    this.#make = make;
  }

  /** Works with one that nobody else uses meanwhile. */
  async use<R>(work: (item: T) => Promise<R>): Promise<R> {
    let item = this.#idle.pop();
    if (item === undefined) {
      item = this.#make();
      this.#all.push(item);
    }
    try {
      return await work(item);
    } finally {
      this.#idle.push(item);
    }
  }

  /** Empties the pool; the next use makes a fresh one. */
  async dispose(end: (item: T) => Promise<void>): Promise<void> {
    this.#idle.length = 0;
    for (const item of this.#all.splice(0)) await end(item);
  }
}
