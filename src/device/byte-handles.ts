// Handles: small numbers for the completions of forwards, copies and transfers, by the names a trace gives them.

const HANDLES_MAX = 65_535;
/** Numbers are used again late, so that a report about one that is over still finds its name. */
const REST = 4096;

/** Names to handles; a number is used again once it was forgotten. @internal */
export class Handles {
  readonly #byName = new Map<string, number[]>(); // oldest first
  readonly #names = new Map<number, string>(); // newest name of a number
  readonly #free: number[] = []; // oldest first, from `#firstFree` on
  #firstFree = 0;
  #made = 0;

  /** Handles of a name; none for what is over or never had one. */
  of(name: string): readonly number[] {
    return this.#byName.get(name) ?? [];
  }

  /** The newest name of a handle. */
  nameOf(handle: number): string {
    return this.#names.get(handle) ?? `completion ${handle}`;
  }

  /** A new handle under a name. */
  add(name: string): number {
    const handle = this.#next();
    const before = this.#byName.get(name);
    if (before === undefined) this.#byName.set(name, [handle]);
    else before.push(handle);
    this.#names.set(handle, name);
    return handle;
  }

  /** Ends a name: its handles, which may be given again. */
  take(name: string): readonly number[] {
    const handles = this.#byName.get(name) ?? [];
    this.#byName.delete(name);
    this.#free.push(...handles);
    return handles;
  }

  /** The oldest name when there is hardly a number left, else null. */
  get surplus(): string | null {
    if (this.#byName.size < HANDLES_MAX - 2 * REST) return null;
    for (const oldest of this.#byName.keys()) return oldest;
    return null;
  }

  clear(): void {
    this.#byName.clear();
    this.#names.clear();
    this.#free.length = 0;
    this.#firstFree = 0;
    this.#made = 0;
  }

  #next(): number {
    const rested = this.#free.length - this.#firstFree > REST;
    if (!rested) return ++this.#made;
    const handle = this.#free[this.#firstFree++]!; // there are more than `REST`
    if (this.#firstFree > REST) {
      this.#free.splice(0, this.#firstFree);
      this.#firstFree = 0;
    }
    return handle;
  }
}
