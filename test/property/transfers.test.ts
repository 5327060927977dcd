// Laws of transfers and relief, over thousands of random chains with load reservations, sends, held and published
// receives.
import { expect, test } from "vitest";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";
import { probe } from "./transfer-probe.js";
import { TransferRun } from "./transfer-runs.js";

const RUNS = 4_000;
const RUNS_A_PART = 100;
const STEPS = 60;
// Cases that the runs must reach for the laws to say anything, in a tenth of the runs.
const LEAST = {
  none: 500,
  flush_ends: 30,
  relayout: 50,
  "second attempt": 30,
  hostwait: 20,
  deadline: 3,
  "beside vacated sends": 10,
};

test("nothing that an engine, a copy or a reservation uses is moved or overwritten before it is waited for", () => {
  const total: Counts = {};
  for (const part of seedsOf(RUNS / RUNS_A_PART)) {
    const counts = sweepPart(`transfers part ${String(part)}`, () => {
      const found: Counts = {};
      for (let i = 0; i < RUNS_A_PART; i++) {
        const run = new TransferRun(part * RUNS_A_PART + i);
        for (let step = 0; step < STEPS; step++) {
          run.step();
          if (step % 4 === 3) probe(run, step % 16 === 3 ? run.demand() : run.tightDemand());
        }
        for (const [name, value] of Object.entries(run.counts))
          found[name] = (found[name] ?? 0) + value;
      }
      return found;
    });
    for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
  }
  sweepTotal(`transfers: ${JSON.stringify(total)}`);
  for (const [name, least] of Object.entries(LEAST)) {
    expect(total[`probes ${name}`] ?? 0, name).toBeGreaterThanOrEqual(least);
  }
});
