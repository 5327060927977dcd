// State slots whose place is not known yet. `state.donate` answers the id of the replacement slot and not its page, so the
// device learns the page when it first shows: in a move, a copy or a list of freed pages (see model-placing.ts).

/** The holder of a page that belongs to some unplaced slot. @internal */
export const SOME_SLOT = -1;

/** One slot without a known place. */
interface Unplaced {
  readonly operation: number; // that handed it out
  writer: number; // newest forward that writes it
}

/** Slots that wait for their place, by id. @internal */
export class UnplacedSlots {
  readonly #slots = new Map<number, Unplaced>();

  get size(): number {
    return this.#slots.size;
  }
  has(slot: number): boolean {
    return this.#slots.size > 0 && this.#slots.has(slot);
  }
  add(slot: number, operation: number): void {
    this.#slots.set(slot, { operation, writer: 0 });
  }
  /** Notes that a forward writes a slot. */
  written(slot: number, forward: number): void {
    const found = this.#slots.get(slot);
    if (found !== undefined) found.writer = forward;
  }
  take(slot: number): Unplaced | undefined {
    const found = this.#slots.get(slot);
    this.#slots.delete(slot);
    return found;
  }
  /** The newest operation that handed one out. */
  get newest(): number {
    return Math.max(0, ...[...this.#slots.values()].map(({ operation }) => operation));
  }
}
