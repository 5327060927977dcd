// The values of a sweep: in equal steps, by a factor, or by powers of two for a page size.
import { UsageError } from "../../base/errors.js";
import { valuesBetween } from "../bisect/config-key.js";

const MOST = 10_000;

/** A step of `by`, or a factor. @public */
export interface SweepStep {
  readonly by: number; // above 0; a factor above 1
  readonly isFactor: boolean;
}

/** From one value to another, both included, in whole numbers. Throws `UsageError` for too many. @public */
export function sweepValues(key: string, from: number, to: number, step: SweepStep): number[] {
  if (from === to) return [from];
  if (!step.isFactor) {
    const line = valuesBetween(key, from, to, step.by);
    if (line.count > MOST) throw tooMany(key, line.count);
    return Array.from({ length: line.count }, (_, index) => line.at(index));
  }
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  if (low === 0) throw new UsageError(`--key ${key}: a factor never leads away from 0`);
  const values: number[] = [];
  // the factor starts at FROM, so that the values are those that were asked for
  for (let value = from; value >= low && value <= high;) {
    const whole = Math.round(value);
    if (values.at(-1) !== whole) values.push(whole);
    if (values.length > MOST) throw tooMany(key, values.length);
    value = from < to ? value * step.by : value / step.by;
  }
  if (values.at(-1) !== to) values.push(to);
  return values;
}

function tooMany(key: string, count: number): UsageError {
  return new UsageError(`--key ${key}: ${String(count)} values or more, at most ${String(MOST)}`);
}
