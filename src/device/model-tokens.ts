// Tokens of a key as the simulated device's tree compares them: one by one, as (hash, offset in its segment). They are
// kept as runs of the segments, so that a comparison costs segments and not tokens.
import type { Key } from "../base/operations.js";

/** Part of one segment. */
interface Run {
  readonly hash: number | string;
  readonly offset: number; // tokens of the segment before this run
  readonly count: number; // tokens, at least 1
}

/** A sequence of tokens. @internal */
export class Tokens {
  readonly count: number;
  readonly #runs: readonly Run[];
  readonly #starts: readonly number[]; // tokens before each run

  constructor(runs: readonly Run[]) {
    const starts: number[] = [];
    let count = 0;
    for (const run of runs) {
      starts.push(count);
      count += run.count;
    }
    this.#runs = runs;
    this.#starts = starts;
    this.count = count;
  }

  static of(key: Key): Tokens {
    return new Tokens(key.map(([hash, tokens]) => ({ hash, offset: 0, count: tokens })));
  }

  /** Tokens `[from, to)`, both within the sequence. */
  slice(from: number, to: number): Tokens {
    const runs: Run[] = [];
    for (let at = this.#runAt(from); at < this.#runs.length; at++) {
      const start = this.#starts[at]!; // one a run
      if (start >= to) break;
      const { hash, offset, count } = this.#runs[at]!; // in range
      const skipped = Math.max(from - start, 0);
      const end = Math.min(to - start, count);
      if (end > skipped) runs.push({ hash, offset: offset + skipped, count: end - skipped });
    }
    return new Tokens(runs);
  }

  /** How many tokens of `other` stand here from `from` on. */
  common(from: number, other: Tokens): number {
    let shared = 0;
    let own = this.#runAt(from);
    let theirs = 0;
    while (own < this.#runs.length && theirs < other.#runs.length) {
      const left = this.#runs[own]!; // both in range
      const right = other.#runs[theirs]!;
      const leftDone = from + shared - this.#starts[own]!;
      const rightDone = shared - other.#starts[theirs]!;
      if (left.hash !== right.hash || left.offset + leftDone !== right.offset + rightDone) break;
      const step = Math.min(left.count - leftDone, right.count - rightDone);
      shared += step;
      if (leftDone + step === left.count) own += 1;
      if (rightDone + step === right.count) theirs += 1;
    }
    return shared;
  }

  /** Tells this sequence from every other. */
  get name(): string {
    return JSON.stringify(this.#runs.map(({ hash, offset, count }) => [hash, offset, count]));
  }

  /** The run that holds a token; one past the end for a token past the end. */
  #runAt(token: number): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! + this.#runs[middle]!.count <= token) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
