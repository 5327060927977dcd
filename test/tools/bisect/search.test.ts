// Halving finds the first bad point of any line, and where points cannot be judged all that it may be.
import { expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { choiceAfter, searchLine } from "../../../src/tools/bisect/search.js";
import type { PointOutcome } from "../../../src/tools/bisect/search.js";

test("over seeds: what is left are the first bad point and the skipped ones right before it", async () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = new Prng(seed);
    const length = 1 + random.below(60); // points 0 to length
    const first = 1 + random.below(length); // the first bad one
    const share = random.below(4); // quarters of the points that cannot be judged
    const outcomes = Array.from({ length: length + 1 }, (_, point): PointOutcome => {
      if (point !== 0 && point !== length && random.below(4) < share) return "skipped";
      return point < first ? "good" : "bad";
    });
    const asked: number[] = [];
    const end = await searchLine({
      good: 0,
      bad: length,
      test: async (point) => {
        asked.push(point);
        return outcomes[point]!;
      },
    });
    // the nearest points around the change that can be judged
    const good = outcomes.lastIndexOf("good");
    const bad = outcomes.indexOf("bad");
    expect({ seed, ...end }).toEqual({ seed, good, bad, isOver: true });
    expect(new Set(asked).size).toBe(asked.length); // no point twice
    expect(asked.every((point) => point > 0 && point < length)).toBe(true);
    if (share === 0) expect(asked.length).toBeLessThanOrEqual(Math.ceil(Math.log2(length + 1)));
  }
});

test("a line of any length takes as many steps as its length has digits", async () => {
  const bad = 2 ** 50;
  const first = 123_456_789_012_345;
  let steps = 0;
  const end = await searchLine({
    good: 0,
    bad,
    test: async (point) => {
      steps += 1;
      return point < first ? "good" : "bad";
    },
  });
  expect(end).toEqual({ good: first - 1, bad: first, isOver: true });
  expect(steps).toBeLessThanOrEqual(51);
});

test("time that is over leaves what is known", async () => {
  const end = await searchLine({
    good: 3,
    bad: 9,
    test: async () => "good",
    isTimeOver: () => true,
  });
  expect(end).toEqual({ good: 3, bad: 9, isOver: false });
});

test("after skips the choice spreads over all that is left", () => {
  expect(choiceAfter(0, 100)).toBe(0);
  const chosen = Array.from({ length: 64 }, (_, skips) => choiceAfter(skips, 100));
  expect(Math.max(...chosen)).toBeGreaterThan(75);
  expect(chosen.every((index) => index >= 0 && index < 100)).toBe(true);
});
