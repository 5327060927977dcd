// How long operations take, by kind: histograms of bounded size, the median with its confidence interval.
// Interval: order statistics. The number of values below the median is binomial (n, 1/2), so the values at ranks
// n/2 -+ 0.98 sqrt(n) enclose it with 95 % (normal approximation; H. A. David, Order Statistics, 7.1).

const STEPS = 64; // a bin is at most 1/64 wider than its lower end
const DOUBLINGS = 42; // up to 2^42 ns, more than an hour
const Z = 0.98; // half of 1.96

/** What was measured of one kind of operation. Times in microseconds. @public */
export interface LatencyRow {
  readonly op: string;
  readonly count: number;
  readonly median: number;
  readonly low: number | null; // the median lies between low and high with 95 %; null: too few values
  readonly high: number | null;
  readonly p99: number;
  readonly max: number;
}

/** @public */
export interface TimedSide {
  readonly spec: string;
  readonly rows: readonly LatencyRow[]; // by operation kind, of all rounds
}

/** Candidate over base, of the medians of a round. @public */
export interface TimeRatio {
  readonly op: string;
  readonly ratio: number; // the middle of the rounds
  readonly low: number; // of all rounds
  readonly high: number;
}

/** @public */
export interface SideTimes {
  readonly base: TimedSide;
  readonly candidate: TimedSide;
  readonly ratios: readonly TimeRatio[]; // of operations that both sides answered
}

/** Counts of times in bins whose widths grow with the time. @internal */
export class LatencyHistogram {
  readonly #bins = new Uint32Array(STEPS * DOUBLINGS);
  #count = 0;
  #max = 0;

  /** @param ns - nanoseconds, not negative */
  add(ns: number): void {
    const whole = Math.max(1, Math.round(ns));
    this.#bins[binOf(whole)]! += 1;
    this.#count += 1;
    if (whole > this.#max) this.#max = whole;
  }

  join(other: LatencyHistogram): void {
    for (const [bin, count] of other.#bins.entries()) this.#bins[bin]! += count;
    this.#count += other.#count;
    this.#max = Math.max(this.#max, other.#max);
  }

  /** The value of a rank, 1 the smallest, in nanoseconds: the middle of its bin, at most 0.8 % from it. */
  at(rank: number): number {
    let seen = 0;
    for (let bin = 0; bin < this.#bins.length; bin += 1) {
      seen += this.#bins[bin]!;
      if (seen >= rank) return Math.min(middleOf(bin), this.#max);
    }
    return this.#max;
  }

  row(op: string): LatencyRow {
    const count = this.#count;
    const us = (rank: number): number => this.at(rank) / 1000;
    const reach = Z * Math.sqrt(count);
    const [below, above] = [Math.floor(count / 2 - reach), Math.ceil(count / 2 + reach) + 1];
    const isWide = below >= 1 && above <= count;
    return {
      ...{ op, count, median: us(Math.ceil(count / 2)) },
      ...{ low: isWide ? us(below) : null, high: isWide ? us(above) : null },
      ...{ p99: us(Math.ceil(count * 0.99)), max: this.#max / 1000 },
    };
  }
}

/** Times of all kinds of operations. @internal */
export class Latencies {
  readonly #kinds = new Map<string, LatencyHistogram>();

  add(op: string, ns: number): void {
    this.#kind(op).add(ns);
  }

  join(other: Latencies): void {
    for (const [op, kind] of other.#kinds) this.#kind(op).join(kind);
  }

  #kind(op: string): LatencyHistogram {
    let kind = this.#kinds.get(op);
    if (kind === undefined) {
      kind = new LatencyHistogram();
      this.#kinds.set(op, kind);
    }
    return kind;
  }

  /** One row a kind, in the order of their names. */
  rows(): readonly LatencyRow[] {
    return [...this.#kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([op, kind]) => kind.row(op));
  }
}

function binOf(ns: number): number {
  const doubling = Math.min(Math.floor(Math.log2(ns)), DOUBLINGS - 1);
  const step = Math.floor((ns / 2 ** doubling - 1) * STEPS);
  return doubling * STEPS + Math.min(Math.max(step, 0), STEPS - 1);
}

function middleOf(bin: number): number {
  const doubling = Math.floor(bin / STEPS);
  return 2 ** doubling * (1 + ((bin % STEPS) + 0.5) / STEPS);
}
