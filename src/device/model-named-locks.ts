// Locks under a name: of a holder that the caller names, counted, until it undoes them or its request ends.
import type { ModelLock, ModelNode } from "./model-tree.js";

/** Locks that are not a row's own, by holder. @internal */
export class NamedLocks {
  readonly #locks = new Map<string, ModelLock[]>();

  add(lock: ModelLock): void {
    const held = this.#locks.get(lock.holder);
    if (held === undefined) this.#locks.set(lock.holder, [lock]);
    else held.push(lock);
  }
  /** Takes the holder's newest lock that ends at a node out. */
  take(holder: string, end: ModelNode): ModelLock | undefined {
    const held = this.#locks.get(holder) ?? [];
    const at = held.findLastIndex((lock) => lock.end === end);
    if (at < 0) return undefined;
    const [lock] = held.splice(at, 1);
    if (held.length === 0) this.#locks.delete(holder);
    return lock;
  }
  /** Takes all locks of a holder out. */
  takeAll(holder: string): readonly ModelLock[] {
    const held = this.#locks.get(holder) ?? [];
    this.#locks.delete(holder);
    return held;
  }
}
