// When one rank sees things complete: drawn from the seed, apart from every other rank's. Ranks differ in this alone, so
// whatever else differs between them was decided by it.
import { Prng } from "../base/prng.js";

const RANK_STREAMS = 1000; // streams of a seed from here on belong to ranks

/** What runs beside one rank's scheduler: forwards, copies, transfers, by name. @public */
export class CompletionSchedule {
  readonly #prng: Prng;
  readonly #ticksMost: number;
  readonly #due = new Map<string, number>(); // tick of completion
  readonly #stalled = new Set<string>();
  #clock = 0;

  /** @param ticksMost - the longest that anything takes, in ticks: operations and rounds of a wait */
  constructor(seed: number, rank: number, ticksMost: number) {
    this.#prng = new Prng(seed, RANK_STREAMS + rank);
    this.#ticksMost = ticksMost;
  }

  /** Something starts; the rank sees it complete after a while. */
  start(name: string): void {
    const after = this.#prng.between(0, this.#ticksMost); // drawn for stalled ones too
    this.#due.set(name, this.#stalled.has(name) ? Infinity : this.#clock + after);
  }
  /** Time passes. */
  tick(): void {
    this.#clock += 1;
  }
  /** A recorded hint: this rank sees it complete now. */
  fire(name: string): void {
    if (this.#due.has(name)) this.#due.set(name, this.#clock);
  }
  /** It does not complete any more, also if it starts later. */
  stall(name: string): void {
    this.#stalled.add(name);
    if (this.#due.has(name)) this.#due.set(name, Infinity);
  }
  isStalled(name: string): boolean {
    return this.#stalled.has(name);
  }
  /** Whether this rank sees it complete. What never started, or was forgotten, is nothing to wait for. */
  isDone(name: string): boolean {
    return (this.#due.get(name) ?? 0) <= this.#clock;
  }
  /** It is over on every rank. */
  forget(name: string): void {
    this.#due.delete(name);
    this.#stalled.delete(name);
  }
}
