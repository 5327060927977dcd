// Handles: small numbers for the completions of forwards, copies and transfers, by the names a trace gives them.

const HANDLES_MAX = 65_535;

/** Names to handles; a number is used again once it was forgotten. @internal */
export class Handles {
  readonly #byName = new Map<string, number[]>(); // oldest first
  readonly #free: number[] = [];
  #made = 0;

  /** Handles of a name; none for what is over or never had one. */
  of(name: string): readonly number[] {
    return this.#byName.get(name) ?? [];
  }

  /** The newest name of a handle. */
  nameOf(handle: number): string {
    for (const [name, handles] of this.#byName) if (handles.includes(handle)) return name;
    return `completion ${handle}`;
  }

  /** A new handle under a name. */
  add(name: string): number {
    const handle = this.#free.pop() ?? ++this.#made;
    const before = this.#byName.get(name);
    if (before === undefined) this.#byName.set(name, [handle]);
    else before.push(handle);
    return handle;
  }

  /** Ends a name: its handles, which may be given again. */
  take(name: string): readonly number[] {
    const handles = this.#byName.get(name) ?? [];
    this.#byName.delete(name);
    this.#free.push(...handles);
    return handles;
  }

  /** The oldest name when there is no number left, else null. */
  get surplus(): string | null {
    if (this.#byName.size < HANDLES_MAX - 64) return null;
    for (const oldest of this.#byName.keys()) return oldest;
    return null;
  }

  clear(): void {
    this.#byName.clear();
    this.#free.length = 0;
    this.#made = 0;
  }
}
