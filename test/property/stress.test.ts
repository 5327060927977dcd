// A clean run finds nothing: every layout, every profile, every page size, under all checks of the stress harness.
import { expect, test } from "vitest";
import { CoverageCounts } from "../../src/tools/coverage-counts.js";
import { stressSeed } from "../../src/tools/stress/seed.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { type Counts, isFullRun, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 200;
const OPERATIONS = 400;
const PAGE_SIZES = [1, 3, 4, 16, 64];

test("no seed finds anything on a sound allocator", () => {
  const total: Counts = {};
  for (const layout of LAYOUTS) {
    const counts = sweepPart(`stress ${layout}`, () => {
      const found: Counts = {};
      const coverage = new CoverageCounts();
      for (const seed of seedsOf(SEEDS)) {
        // The stride of the short run divides by every page size's turn.
        const pageSize = PAGE_SIZES[(seed + Math.floor(seed / 10)) % PAGE_SIZES.length]!; // in range
        // The long run tries every question on a copy.
        const questionsEvery = isFullRun ? 1 : 8;
        const result = stressSeed({ seed, ops: OPERATIONS, layout, pageSize, questionsEvery });
        expect(result.findings, `${result.run} ${result.profile}`).toEqual([]);
        coverage.join(result.coverage);
        for (const [name, count] of Object.entries(result.counts))
          found[name] = (found[name] ?? 0) + (count as number);
      }
      for (const [name, count] of coverage.entries()) found[name] = count;
      return found;
    });
    for (const [name, count] of Object.entries(counts)) total[name] = (total[name] ?? 0) + count;
  }
  sweepTotal(`stress: ${String(total["operations"])} operations, ${String(total["tried"])} tried`);
  for (const name of ["tried", "copies", "quiescent", "waits", "elided"])
    expect(total[name] ?? 0, name).toBeGreaterThan(0);
  expect(total["elided"]!).toBeLessThan(total["waits"]!);
});
