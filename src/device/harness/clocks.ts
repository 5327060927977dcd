// Who runs beside whom. One vector clock an actor: how much of every other actor's work lies before its own. Accesses
// keep the clock's own part alone (an epoch): the last write of a cell, the last read of it by each actor. Two accesses
// of one cell race if one writes and the later one's clock does not reach the earlier one's epoch.
import type { CellSpace } from "./cells.js";

/** Actors that every run has; network transfers come behind them. @internal */
export const ACTOR = {
  host: 0,
  schedule: 1,
  forward: 2,
  copyOut: 3,
  copyIn: 4,
  readback: 5,
  network: 6, // the first of them
} as const;
const ACTORS = 32;

/** By actor: how many of its actions lie before. @internal */
export type Clock = Int32Array;

/** One queued piece of work. @internal */
export interface Action {
  readonly name: string; // `zero`, `f3`, `send t1`
  readonly actor: number;
  readonly time: number; // from 1, its place in the actor's queue
  readonly clock: Clock; // what must lie before it, itself included
  readonly operation: number;
}

/** Two unordered accesses. @internal */
export interface Race {
  readonly cell: number;
  readonly earlier: Action;
  readonly later: Action;
  readonly isWriteFirst: boolean;
}

/** The clocks of all actors, their queues and what they touched. @internal */
export class Actors<A extends Action> {
  /** By actor: its actions, the one with time t at index t - 1. */
  readonly queues: readonly A[][];
  readonly #clocks: readonly Clock[];
  readonly #writer: Uint8Array; // by cell: actor of the last write
  readonly #written: Int32Array; // its time, 0 = never
  readonly #read: (Int32Array | null)[] = new Array<Int32Array | null>(ACTORS).fill(null); // by actor, by cell
  readonly #cells: number;
  readonly #free: number[] = []; // actors for transfers, the next one last
  /** The first race since it was last taken. */
  race: Race | null = null;

  constructor(space: CellSpace) {
    this.#cells = space.count;
    this.queues = Array.from({ length: ACTORS }, () => []);
    this.#clocks = Array.from({ length: ACTORS }, () => new Int32Array(ACTORS));
    this.#writer = new Uint8Array(space.count);
    this.#written = new Int32Array(space.count);
    for (let actor = ACTORS - 1; actor >= ACTOR.network; actor--) this.#free.push(actor);
  }

  /** An actor for a transfer. With more of them open than there are actors the last one serves several, which can hide a
   * race and never makes one up. */
  lend(): number {
    return this.#free.pop() ?? ACTORS - 1;
  }
  giveBack(actor: number): void {
    if (!this.#free.includes(actor)) this.#free.push(actor);
  }

  /** Everything that `clock` covers lies before what `actor` does from now on. */
  join(actor: number, clock: Clock): void {
    const own = this.#clocks[actor]!; // one an actor, as below
    for (let at = 0; at < ACTORS; at++) if (clock[at]! > own[at]!) own[at] = clock[at]!;
  }
  /** An actor's clock as it stands; a copy. */
  snapshot(actor: number): Clock {
    return this.#clocks[actor]!.slice();
  }

  /** Starts an actor's next action, behind all that the host knows. Returns its time and clock. */
  advance(actor: number): { readonly time: number; readonly clock: Clock } {
    this.join(actor, this.#clocks[ACTOR.host]!);
    const clock = this.#clocks[actor]!;
    const time = clock[actor]! + 1;
    clock[actor] = time;
    return { time, clock: clock.slice() };
  }

  /** Whether an epoch lies before what an actor does now. */
  isBefore(actor: number, time: number, of: number): boolean {
    return time <= this.#clocks[of]![actor]!;
  }

  /** Notes that an action reads cells `[from, to)`. */
  reads(action: A, from: number, to: number): void {
    const { actor, time, clock } = action;
    const times = (this.#read[actor] ??= new Int32Array(this.#cells));
    for (let cell = from; cell < to; cell++) {
      const written = this.#written[cell]!;
      if (written > clock[this.#writer[cell]!]!)
        this.#meet(action, cell, this.#writer[cell]!, true);
      times[cell] = time;
    }
  }

  /** Notes that an action writes cells `[from, to)`. */
  writes(action: A, from: number, to: number): void {
    const { actor, time, clock } = action;
    for (let cell = from; cell < to; cell++) {
      const writer = this.#writer[cell]!;
      if (this.#written[cell]! > clock[writer]!) this.#meet(action, cell, writer, true);
      for (let reader = 1; reader < ACTORS; reader++) {
        const times = this.#read[reader];
        if (times === null || times === undefined || times[cell]! <= clock[reader]!) continue;
        this.#meet(action, cell, reader, false);
      }
      this.#writer[cell] = actor;
      this.#written[cell] = time;
    }
  }

  /** The last write of a cell that does not lie before what `of` does now, or null. */
  unseenWriter(cell: number, of: number): A | null {
    const writer = this.#writer[cell]!;
    const time = this.#written[cell]!;
    return time === 0 || this.isBefore(writer, time, of) ? null : this.queues[writer]![time - 1]!;
  }

  #meet(later: A, cell: number, other: number, isWriteFirst: boolean): void {
    // Two transfers over one page are their caller's business: no operation of one waits for the other.
    if (later.actor >= ACTOR.network && other >= ACTOR.network) return;
    if (this.race !== null) return;
    const time = isWriteFirst ? this.#written[cell]! : this.#read[other]![cell]!; // it was read
    const earlier = this.queues[other]![time - 1]!; // every epoch is that of an action
    this.race = { cell, earlier, later, isWriteFirst };
  }
}
