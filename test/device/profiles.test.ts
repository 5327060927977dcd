// The allocator with its tree, host and transfers under the device, every live page verified after every operation; then
// the same runs with one kind of effect left out.
import { describe, expect, test } from "vitest";
import type { Layout } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { keeping, play, type Run, type Spoil } from "./seeded-run.js";

const PROFILES = ["steady", "swarm", "tight", "transfers", "windows", "speculative", "stages"];
const LAYOUTS: readonly Layout[] = ["full+window", "full+state", "full+2window+state"];
const SEEDS = [0, 1, 2, 3, 4, 5];
const OPERATIONS = 400;

function runs(
  profiles: readonly string[],
  spoil: Spoil,
  verify: "touched" | "every",
): readonly Run[] {
  return profiles.flatMap((weights, profile) =>
    LAYOUTS.flatMap((layout, at) =>
      SEEDS.map((seed) => {
        const pageSize = (profile + at + seed) % 2 === 0 ? 1 : 4;
        const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize, weights });
        return play(workload, spoil, verify);
      }),
    ),
  );
}

describe("the whole allocator under the device", () => {
  test.each(PROFILES)("has no violation: %s", (profile) => {
    const all = runs([profile], (_operation, answer) => answer, "every");
    expect(all.filter((one) => one.found !== null)).toEqual([]);
  });

  // A wait may be more careful than the bytes need, so the first one forgotten is not always the one that shows.
  test.each([
    ["the waits for copies", "wait", /^c/],
    ["the waits of the host", "hostwait", /^t/],
  ])("is caught when it forgets %s", (_what, kind, signal) => {
    const keep = keeping(
      (effect) => effect[0] !== kind || typeof effect[1] !== "string" || !signal.test(effect[1]),
    );
    const spoilt = runs(["steady", "transfers"], keep, "touched").filter((one) => one.spoilt > 0);
    expect(spoilt.length).toBeGreaterThan(3);
    expect(spoilt.filter((one) => one.found === null).length).toBeLessThan(spoilt.length / 2);
    expect(spoilt.some((one) => one.foundAtOnce)).toBe(true);
  });

  test.each([
    ["to submit its copies", "hostcopy"],
    ["to start its transfers", "net"],
  ])("is caught when it forgets %s", (_what, kind) => {
    const keep = keeping((effect) => effect[0] !== kind || isEmpty(effect[3]));
    const all = runs(["steady", "transfers"], keep, "touched");
    const spoilt = all.filter((one) => one.spoilt > 0);
    expect(spoilt.length).toBeGreaterThan(all.length / 2);
    expect(spoilt.filter((one) => !one.foundAtOnce)).toEqual([]);
  });
});

function isEmpty(pages: unknown): boolean {
  return Object.keys(pages as object).length === 0;
}
