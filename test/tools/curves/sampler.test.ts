// Sampling keeps every peak, the first and the last operation, and stays bounded; the highest end is that of a search.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import type { CurvePoint } from "../../../src/tools/curves/curve.js";
import { pointShares } from "../../../src/tools/curves/curve.js";
import { HighestEnd } from "../../../src/tools/curves/highest-end.js";
import { CurveSampler, pointsMax } from "../../../src/tools/curves/sampler.js";

function series(random: Prng, length: number, step: number): CurvePoint[] {
  return Array.from({ length }, (_, index) => {
    const spanBytes = random.between(0, 1000);
    const parts = [random.between(0, 40), random.between(0, 40)];
    const liveBytes = random.between(0, spanBytes);
    return { n: index * step, liveBytes, spanBytes, usableBytes: 1000, parts };
  });
}

/** The highest value and its first operation, by looking at all. */
function highest(
  points: readonly CurvePoint[],
  of: (point: CurvePoint) => number,
): { value: number; n: number } {
  let best = points[0]!;
  for (const point of points) if (of(point) > of(best)) best = point;
  return { value: of(best), n: best.n };
}

describe("sampling", () => {
  test.each([1, 2, 3, 63, 64, 65, 127, 128, 129, 130, 1000, 4097, 20_000])(
    "%i operations keep their peaks as they were",
    (length) => {
      const random = new Prng(length, 5);
      const all = series(random, length, random.between(1, 3));
      const sampler = new CurveSampler();
      for (const point of all) sampler.add(point);
      const { points, peaks } = sampler.result()!;
      expect(points.length).toBeLessThanOrEqual(pointsMax(2));
      if (length <= 64) expect(points).toEqual(all);
      // moments that were, in order, from the first to the last
      const given = new Map(all.map((point) => [point.n, point]));
      for (const point of points) expect(point).toBe(given.get(point.n));
      const numbers = points.map(({ n }) => n);
      expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
      expect([points[0], points.at(-1)]).toEqual([all[0], all.at(-1)]);
      // peaks, and a point of the curve for each
      const free = (point: CurvePoint): number => -pointShares(point).capacity!;
      const wanted = [
        [peaks.liveBytes, highest(all, (point) => point.liveBytes)],
        [peaks.occupancy, highest(all, (point) => pointShares(point).occupancy!)],
        [peaks.fragmentation, highest(all, (point) => pointShares(point).fragmentation!)],
        [{ ...peaks.capacity!, value: -peaks.capacity!.value }, highest(all, free)],
        [peaks.parts[0], highest(all, ({ parts }) => parts[0]!)],
        [peaks.parts[1], highest(all, ({ parts }) => parts[1]!)],
      ] as const;
      for (const [told, right] of wanted) {
        expect([told!.value + 0, told!.n]).toEqual([right.value + 0, right.n]); // + 0: 0 and -0 are one
        expect(numbers).toContain(right.n);
      }
    },
  );

  test("a curve in a longer one covers every stretch", () => {
    const sampler = new CurveSampler();
    const length = 50_000;
    for (const point of series(new Prng(1, 5), length, 1)) sampler.add(point);
    const { points } = sampler.result()!;
    // stretches are a power of two, 32 at least of them are whole
    const gaps = points.slice(1).map(({ n }, index) => n - points[index]!.n);
    expect(Math.max(...gaps)).toBeLessThan((2 * length) / 16);
  });

  test("what nothing tells is no peak", () => {
    const sampler = new CurveSampler();
    const nothing = { spanBytes: null, usableBytes: null, parts: [0] };
    for (const n of [3, 4, 5]) sampler.add({ n, liveBytes: 10 * n, ...nothing });
    expect(sampler.result()!.peaks).toEqual({
      liveBytes: { value: 50, n: 5 },
      occupancy: null,
      capacity: null,
      fragmentation: null,
      parts: [{ value: 0, n: 3 }],
    });
    expect(new CurveSampler().result()).toBeNull();
  });
});

test("the highest end is that of all live objects", () => {
  for (let seed = 0; seed < 20; seed++) {
    const random = new Prng(seed, 6);
    const told = new HighestEnd();
    const live = new Map<string, number>();
    for (let step = 0; step < 600; step++) {
      const id = `o${random.below(1 + 3 * seed)}`;
      if (random.chance(2, 3)) {
        const end = random.between(1, 50);
        told.set(id, end);
        live.set(id, end);
      } else {
        told.delete(id);
        live.delete(id);
      }
      expect(told.end).toBe(Math.max(0, ...live.values()));
    }
  }
});
