// Mistakes made in recorded runs are found: by kind, over seeds, with counts.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { mutated, MUTATIONS } from "./mutations.js";
import { auditRun, seededRun } from "./runs.js";

const PROFILES = ["default", "steady", "tight", "transfers", "windows", "speculative"];
const PAGE_SIZES = [1, 3, 16];
const OPERATIONS = 250;
const AT_LEAST = 6; // runs of a kind, else nothing is proved

const RUNS = PROFILES.flatMap((profile, at) =>
  LAYOUTS.map((layout, index) =>
    seededRun(at * 7 + index, layout, PAGE_SIZES[(at + index) % 3]!, profile, OPERATIONS),
  ),
);

describe("one mistake in a recorded run", () => {
  const counts: string[] = [];
  test.each(Object.entries(MUTATIONS))("%s", (name, { mutate, most }) => {
    let [made, found, atOnce] = [0, 0, 0];
    for (const [index, run] of RUNS.entries()) {
      const change = mutated(run.lines, mutate, new Prng(index, 4711));
      if (change === null) continue;
      made += 1;
      const [first] = auditRun({ config: run.config, lines: change.lines }, 1);
      if (first === undefined) continue;
      found += 1;
      expect(first.n, `${run.name}: ${first.message}`).toBeGreaterThanOrEqual(change.n);
      if (first.n === change.n) atOnce += 1;
    }
    counts.push(`${name}: ${made} made, ${found} found, ${atOnce} by the very line`);
    expect(made, counts.at(-1)).toBeGreaterThanOrEqual(AT_LEAST);
    expect((100 * found) / made, counts.at(-1)).toBeGreaterThanOrEqual(most);
  });
  test("counts", () => {
    console.log(counts.join("\n"));
    expect(counts.length).toBe(Object.keys(MUTATIONS).length);
  });
});
