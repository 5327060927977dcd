// Scenarios under the checks of `stress`: they reach what seeds seldom do. What a scenario expects is the business of `run`.
import type { Answer, KvOperation } from "../../base/operations.js";
import { KVStorage } from "../../kv/storage.js";
import { type Scenario, scenarioWorkload } from "../../workload/scenario.js";
import { CoverageCounts } from "../coverage-counts.js";
import type { Finding } from "../findings.js";
import { barrierBehind } from "./seed.js";
import { noStressCounts, type StressCounts, type StressDevice, StressRun } from "./run.js";

/** One scenario on one of its configurations. @internal */
export interface StressScenarioResult {
  readonly run: string; // NAME or NAME@CONFIG
  readonly file: string;
  readonly findings: readonly Finding[];
  readonly counts: StressCounts;
  readonly coverage: CoverageCounts;
}

/** Runs every scenario, its drain included, on each of its configurations. @internal */
export function* stressScenarios(
  scenarios: readonly Scenario[],
  device: StressDevice = "model",
): Iterable<StressScenarioResult> {
  let seed = 0; // each has another completion schedule
  for (const scenario of scenarios)
    for (const [name] of scenario.configs) yield stressScenario(scenario, name, seed++, device);
}

function stressScenario(
  scenario: Scenario,
  configName: string | null,
  seed: number,
  device: StressDevice,
): StressScenarioResult {
  const workload = scenarioWorkload(scenario, configName);
  const coverage = new CoverageCounts();
  const own = { run: workload.run, file: scenario.file, coverage };
  const storage = new KVStorage(workload.config, { digestDepth: null });
  const { direct } = storage;
  if (direct === null) {
    coverage.add("boot", storage.apply({ op: "boot", args: {} })); // refused: nothing can follow
    return { ...own, findings: [], counts: { ...noStressCounts(), operations: 1 } };
  }
  const run = new StressRun({ config: direct, seed, questionsEvery: 1, device });
  // One that says nothing of barriers has the engine's usual one behind each forward.
  const hasBarriers = scenario.ops.some(({ operation }) => operation.op === "forward.barrier");
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation; // scenarios are of domain kv
    answer = run.apply(operation);
    if (answer === null) break;
    coverage.add(operation.op, answer);
    if (run.isOver) break;
    const barrier = hasBarriers ? null : barrierBehind(operation, answer);
    if (barrier !== null && run.apply(barrier) === null) break;
  }
  run.end();
  coverage.reach(run.reached);
  return { ...own, findings: run.findings, counts: run.counts };
}
