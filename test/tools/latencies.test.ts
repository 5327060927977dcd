// The histogram against sorted lists, the interval against its promise.
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { Latencies, LatencyHistogram } from "../../src/tools/latencies.js";

const COUNTS = [1, 2, 5, 10, 100, 1001];

function times(seed: number, count: number): number[] {
  const random = new Prng(seed);
  return Array.from({ length: count }, () => {
    const digits = random.below(9);
    return 1 + random.below(10 ** digits);
  });
}

test.each(COUNTS)("every rank of %d values is within 1/64 of the sorted list's", (count) => {
  for (let seed = 0; seed < 20; seed += 1) {
    const values = times(seed, count);
    const histogram = new LatencyHistogram();
    for (const value of values) histogram.add(value);
    const sorted = values.toSorted((a, b) => a - b);
    for (const rank of [1, Math.ceil(count / 2), Math.ceil(count * 0.99), count]) {
      const exact = sorted[rank - 1]!;
      expect(Math.abs(histogram.at(rank) - exact)).toBeLessThanOrEqual(exact / 64);
    }
    expect(histogram.row("ask.fits").max).toBe(sorted.at(-1)! / 1000);
  }
});

test("too few values have no interval; with more it holds the median and shrinks", () => {
  const widths = [3, 30, 300, 3000].map((count) => {
    const histogram = new LatencyHistogram();
    for (let value = 1; value <= count; value += 1) histogram.add((1e6 * value) / count);
    const { median, low, high } = histogram.row("boot");
    if (low === null || high === null) return null;
    expect(low).toBeLessThanOrEqual(median);
    expect(high).toBeGreaterThanOrEqual(median);
    return high - low;
  });
  expect(widths[0]).toBeNull();
  expect(widths[2]).toBeLessThan(widths[1]!);
  expect(widths[3]).toBeLessThan(widths[2]!);
});

test("the interval holds the true median in about 95 of 100 draws", () => {
  let held = 0;
  const draws = 1000;
  for (let seed = 0; seed < draws; seed += 1) {
    const random = new Prng(seed);
    const histogram = new LatencyHistogram();
    for (let n = 0; n < 101; n += 1) histogram.add(1000 + random.below(1_000_001));
    const { low, high } = histogram.row("boot");
    if (low! <= 501 && high! >= 501) held += 1;
  }
  expect(held).toBeGreaterThan(0.93 * draws);
  expect(held).toBeLessThan(0.99 * draws);
});

test("rows stand in the order of their names", () => {
  const all = new Latencies();
  for (const op of ["tokens.free", "boot", "tokens.free"]) all.add(op, 5);
  expect(all.rows().map(({ op, count }) => [op, count])).toEqual([
    ["boot", 1],
    ["tokens.free", 2],
  ]);
});
