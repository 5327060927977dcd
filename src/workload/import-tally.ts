// What became of the events of a foreign log. Every event is counted exactly once, so that the sums must agree.
import { InternalError } from "../base/errors.js";

/** Counts of one import. `events` is the sum of the four below it. @public */
export interface ImportCounts {
  readonly events: number;
  readonly operations: number; // events that are an operation
  readonly joined: number; // events that belong to an operation which another event tells
  readonly marks: number; // events kept as remarks
  readonly dropped: Readonly<Record<string, number>>; // events left out, by reason
  readonly unknown: number; // of the dropped: events that no rule of the format names
  readonly allocations: number; // objects whose life began
  readonly frees: number; // objects whose life ended
  readonly live: number; // objects that lived at the end
  readonly facts: Readonly<Record<string, number>>; // what else was counted: peaks, addresses that were used again, …
}

/** Counts while a log is read. @internal */
export class ImportTally {
  events = 0;
  operations = 0;
  joined = 0;
  marks = 0;
  unknown = 0;
  allocations = 0;
  frees = 0;
  readonly #dropped = new Map<string, number>();
  readonly #facts = new Map<string, number>();

  /** One more of something. */
  count(fact: string, by = 1): void {
    this.#facts.set(fact, (this.#facts.get(fact) ?? 0) + by);
  }

  /** The most of something. */
  peak(fact: string, value: number): void {
    if (value > (this.#facts.get(fact) ?? 0)) this.#facts.set(fact, value);
  }

  /** Leaves `count` events out for a reason. */
  drop(reason: string, count = 1): void {
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + count);
  }

  /** The counts at the end. Throws `InternalError` where they do not add up. */
  counts(live: number): ImportCounts {
    const { events, operations, joined, marks, unknown, allocations, frees } = this;
    const dropped = Object.fromEntries(this.#dropped);
    let sum = operations + joined + marks;
    for (const count of this.#dropped.values()) sum += count;
    if (sum !== events) throw new InternalError(`${sum} events accounted for of ${events}`);
    if (allocations - frees !== live) {
      throw new InternalError(`${allocations} allocations, ${frees} frees, ${live} objects live`);
    }
    const facts = Object.fromEntries(this.#facts);
    return { events, operations, joined, marks, dropped, unknown, allocations, frees, live, facts };
  }
}
