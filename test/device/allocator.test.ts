// The allocator of this project under the device, every live page verified after every operation; then the same runs
// with one kind of mistake put between the two.
import { describe, expect, test } from "vitest";
import { seededWorkload } from "../../src/workload/seeded.js";
import { keeping, play, type Run, type Spoil } from "./seeded-run.js";

const LAYOUTS = ["full+window", "full+state"] as const;
const SEEDS = [0, 1, 2, 3, 4, 5, 6, 7];
const OPERATIONS = 400;

function runs(spoil: Spoil, verify: "touched" | "every"): Run[] {
  return LAYOUTS.flatMap((layout) =>
    [1, 16].flatMap((pageSize) =>
      SEEDS.map((seed) =>
        play(seededWorkload({ seed, ops: OPERATIONS, layout, pageSize }), spoil, verify),
      ),
    ),
  );
}

describe("the allocator under the device", () => {
  test("has no violation", () => {
    const broken = runs((_operation, answer) => answer, "every").filter(
      (one) => one.found !== null,
    );
    expect(broken).toEqual([]);
  });

  test("is caught when it forgets to zero", () => {
    const all = runs(
      keeping((effect) => effect[0] !== "zero"),
      "touched",
    );
    expect(all.filter((one) => !one.foundAtOnce)).toEqual([]);
  });

  test("is caught when it forgets its waits", () => {
    const all = runs(
      keeping((effect) => effect[0] !== "wait"),
      "touched",
    );
    // A wait may be more careful than the bytes need, so the first one forgotten is not always the one that shows.
    const forgetful = all.filter((one) => one.spoilt > 0);
    expect(forgetful.length).toBeGreaterThan(all.length / 2);
    expect(forgetful.filter((one) => one.found === null)).toEqual([]);
    expect(all.filter((one) => one.spoilt === 0 && one.found !== null)).toEqual([]);
    expect(forgetful.filter((one) => one.foundAtOnce).length).toBeGreaterThan(forgetful.length / 2);
  });
});
