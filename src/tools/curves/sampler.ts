// A curve of bounded length from a run of any length: of each stretch of operations the points with an extreme are kept as
// they are, so that no peak is lost and each point is a moment that was. Stretches grow as the run does.
import type { CurvePeak, CurvePoint, RunCurve } from "./curve.js";
import { pointShares } from "./curve.js";

const STRETCHES_MAX = 128; // even

/** Points of a curve at most, by its parts: of each stretch every extreme, and the first and the last operation.
 * @internal */
export function pointsMax(parts: number): number {
  return STRETCHES_MAX * (EXTREMES + parts) + 2;
}

const EXTREMES = 4; // live bytes and the three shares; then one a part

/** A point beside the value that made it an extreme; null: no point of the stretch has the value. */
type Extreme = { readonly value: number; readonly point: CurvePoint } | null;
type Stretch = Extreme[];

/** @internal */
export class CurveSampler {
  #stretches: Stretch[] = [];
  #length = 1; // operations of a whole stretch
  #taken = 0; // operations of the last stretch
  #first: CurvePoint | null = null;
  #last: CurvePoint | null = null;

  add(point: CurvePoint): void {
    this.#first ??= point;
    this.#last = point;
    const extremes = extremesOf(point);
    const open = this.#stretches.at(-1);
    if (open === undefined || this.#taken === this.#length) {
      this.#stretches.push(extremes);
      this.#taken = 1;
      if (this.#stretches.length > STRETCHES_MAX) this.#join();
      return;
    }
    this.#taken += 1;
    merge(open, extremes);
  }

  /** Null before the first point. */
  result(): Pick<RunCurve, "peaks" | "points"> | null {
    const [first, last] = [this.#first, this.#last];
    if (first === null || last === null) return null;
    const whole: Stretch = [];
    for (const stretch of this.#stretches) merge(whole, stretch);
    const [live, occupancy, capacity, fragmentation, ...parts] = whole.map(peakOf);
    return {
      peaks: {
        liveBytes: live ?? { value: first.liveBytes, n: first.n },
        occupancy: occupancy ?? null,
        capacity: capacity ? { value: -capacity.value, n: capacity.n } : null,
        fragmentation: fragmentation ?? null,
        parts: parts.map((part) => part ?? { value: 0, n: first.n }),
      },
      points: this.#points(first, last),
    };
  }

  #points(first: CurvePoint, last: CurvePoint): CurvePoint[] {
    const points = new Set([first, last]);
    for (const stretch of this.#stretches)
      for (const extreme of stretch) if (extreme !== null) points.add(extreme.point);
    return [...points].sort((left, right) => left.n - right.n);
  }

  /** Two stretches become one; the last one has no other beside it and is now half of a whole one. */
  #join(): void {
    const joined: Stretch[] = [];
    for (const [index, stretch] of this.#stretches.entries()) {
      const before = index % 2 === 0 ? undefined : joined.at(-1);
      if (before === undefined) joined.push(stretch);
      else merge(before, stretch);
    }
    this.#stretches = joined;
    this.#length *= 2;
  }
}

function extremesOf(point: CurvePoint): Stretch {
  const { occupancy, capacity, fragmentation } = pointShares(point);
  const of = (value: number | null): Extreme => (value === null ? null : { value, point });
  return [
    of(point.liveBytes),
    of(occupancy),
    of(capacity === null ? null : -capacity), // the lowest counts
    of(fragmentation),
    ...point.parts.map(of),
  ];
}

/** Takes over what is higher; of equal ones the first stays. */
function merge(into: Stretch, from: Stretch): void {
  for (const [index, extreme] of from.entries()) {
    const known = into[index] ?? null;
    if (known === null || (extreme !== null && extreme.value > known.value)) into[index] = extreme;
  }
}

function peakOf(extreme: Extreme): CurvePeak | null {
  return extreme && { value: extreme.value, n: extreme.point.n };
}
