// Names for what a workload opens: `r1`, `r2`, … A name of a request may come again once it is closed; every other
// name is used once in a run.

/** Counts names of one kind. @internal */
export class NameSource {
  readonly #prefix: string;
  #count = 0;
  constructor(prefix: string) {
    this.#prefix = prefix;
  }
  /** A name never given before. */
  fresh(): string {
    this.#count += 1;
    return `${this.#prefix}${String(this.#count)}`;
  }
}
