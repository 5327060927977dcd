// Pricing and admission over the recorded corpus: every scenario, seeded runs, and real requests. What the snapshot
// answers is what the take does on a copy.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { loadConfigs } from "../../src/workload/configs.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { openRequestTrace } from "../../src/workload/request-traces.js";
import { loadScenarios, scenarioWorkload } from "../../src/workload/scenario.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { servingWorkload } from "../../src/workload/serving.js";
import { describeUnless } from "../skip-aloud.js";
import { lookAt } from "./corpus-run.js";
import { type Counts, isFullRun, seedsOf, share, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 100;
const OPERATIONS = 400;
const PAGE_SIZES = [1, 3, 16, 64];
const QUERIES = 320_000;
const OBSERVATIONS = 270_000;
const STEPS = ["no_move", "flush_ends", "relayout", "none"];
const VERDICTS = ["admit", "chunk", "wait", "never_fits", "unschedulable"];
const REQUESTS = 1000;

function addTo(total: Counts, counts: Counts): void {
  for (const [kind, count] of Object.entries(counts)) total[kind] = (total[kind] ?? 0) + count;
}

test("seeded runs answer as their takes do", () => {
  const total: Counts = {};
  let parts = 0;
  for (const layout of LAYOUTS) {
    for (const pageSize of PAGE_SIZES) {
      for (const seed of seedsOf(SEEDS)) {
        const name = `pricing-corpus ${layout} p${String(pageSize)} seed ${String(seed)}`;
        const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize });
        const counts = sweepPart(name, () => lookAt(workload, { share: 4 }, new Prng(seed, 23)));
        addTo(total, counts);
        parts += 1;
      }
    }
  }
  sweepTotal(`pricing corpus: ${JSON.stringify(total)}`);
  // Outside the full run, the same share of each.
  const part = parts / (LAYOUTS.length * PAGE_SIZES.length * SEEDS);
  expect(total["queries"]).toBeGreaterThanOrEqual(QUERIES * part);
  expect(total["observations"]).toBeGreaterThanOrEqual(OBSERVATIONS * part);
  for (const step of STEPS) expect(share(total, step, "queries"), step).toBeGreaterThanOrEqual(5);
  for (const kind of VERDICTS)
    expect(share(total, kind, "observations"), kind).toBeGreaterThanOrEqual(5);
  // Open requests mid-prompt are a good part, and end in every way too.
  expect(share(total, "open_observations", "observations")).toBeGreaterThanOrEqual(5);
  for (const kind of VERDICTS) expect(total[`open_${kind}`], kind).toBeGreaterThan(0);
});

test("every scenario answers as its takes do, on every configuration that it names", () => {
  const total: Counts = {};
  let runs = 0;
  for (const scenario of loadScenarios([
    fileURLToPath(new URL("../../scenarios", import.meta.url)),
  ])) {
    for (const [config] of scenario.configs) {
      const counts = lookAt(scenarioWorkload(scenario, config), { share: 1 }, new Prng(runs, 24));
      if ((counts["queries"] ?? 0) > 0) total["runs"] = (total["runs"] ?? 0) + 1;
      addTo(total, counts);
      runs += 1;
    }
  }
  sweepTotal(`pricing of scenarios: ${JSON.stringify(total)}`);
  expect(total["runs"]).toBeGreaterThan(20); // the others are refused at boot
  for (const kind of ["no_move", "flush_ends", "none", ...VERDICTS])
    expect(total[kind], kind).toBeGreaterThan(0);
});

const REAL = fileURLToPath(
  new URL("../../../shared/data/mooncake/conversation_trace.jsonl.gz", import.meta.url),
);
describeUnless(
  existsSync(REAL) ? undefined : "no conversation_trace.jsonl.gz beside the project",
  "real requests at serving/tight",
  () => {
    const library = loadConfigs();
    // The full run takes every layout; else the one that has every kind of band.
    const layouts = isFullRun ? LAYOUTS : (["full+window+state"] as const);
    test.each(layouts)("%s answers as its takes do", async (layout) => {
      const trace = await openRequestTrace(`mooncake:${REAL}`, REQUESTS);
      const pageSize = 64;
      const derived = library.derived("serving/tight", layout, pageSize);
      const configName = "serving/tight";
      const workload = servingWorkload({ trace, ...derived, configName, layout, pageSize });
      const looks = { share: isFullRun ? 40 : 400 };
      const counts = sweepPart(`pricing of ${workload.run}`, () =>
        lookAt(workload, looks, new Prng(5, 25)),
      );
      sweepTotal(`pricing of ${workload.run}: ${JSON.stringify(counts)}`);
      expect(counts["queries"]).toBeGreaterThan(isFullRun ? 5000 : 800);
      expect(counts["open_observations"]).toBeGreaterThan(isFullRun ? 400 : 50);
    });
  },
);
