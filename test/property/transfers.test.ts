// Laws of transfers and relief, over thousands of random chains with load reservations, sends, held and published
// receives.
import { expect, test } from "vitest";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";
import { TransferRun } from "./transfer-runs.js";

const RUNS = 20_000;
const RUNS_A_PART = 100;
const STEPS = 60;

test("nothing that an engine, a copy or a reservation uses is moved or overwritten before it is waited for", () => {
  const total: Counts = {};
  for (const part of seedsOf(RUNS / RUNS_A_PART)) {
    const counts = sweepPart(`transfers part ${String(part)}`, () => {
      const found: Counts = {};
      for (let i = 0; i < RUNS_A_PART; i++) {
        const run = new TransferRun(part * RUNS_A_PART + i);
        for (let step = 0; step < STEPS; step++) run.step();
        for (const [name, value] of Object.entries(run.counts))
          found[name] = (found[name] ?? 0) + value;
      }
      return found;
    });
    for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
  }
  sweepTotal(`transfers: ${JSON.stringify(total)}`);
  expect(total["hostwaits"]).toBeGreaterThan(0);
});
