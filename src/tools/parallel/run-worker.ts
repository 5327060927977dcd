// A worker thread of `run`: scenarios come in, verdicts go out.
import { workerData } from "node:worker_threads";
import { openAdapter } from "../../adapter/open-adapter.js";
import type { Scenario } from "../../workload/scenario.js";
import { Candidate } from "../candidate.js";
import type { ScenarioResult } from "../outcome.js";
import { Pulse } from "../pulse.js";
import { RunCoverage } from "../run-coverage.js";
import type { CoveragePart } from "../run-coverage.js";
import { runScenario } from "../run-scenario.js";
import { answerPieces } from "../worker-threads.js";
import type { ImplementationData } from "./part.js";

/** What each thread is told. @internal */
export interface RunnerPlan {
  readonly implementation: ImplementationData;
  readonly countsCoverage: boolean;
}
/** @internal */
export interface ScenarioPiece {
  readonly place: number;
  readonly scenario: Scenario;
  readonly config: string | null;
}
/** @internal */
export interface ScenarioAnswer {
  readonly result: ScenarioResult;
  readonly operations: number; // pulled, also of a run that was cut short
  readonly coverage: CoveragePart | null; // null: not counted
}

const { implementation, countsCoverage } = workerData as RunnerPlan; // what the thread was started with
const { spec, options } = implementation;
const coverage = countsCoverage ? new RunCoverage() : null;
const candidate = new Candidate(() => openAdapter(spec, options));

answerPieces(async ({ scenario, config }: ScenarioPiece): Promise<ScenarioAnswer> => {
  const pulse = new Pulse({});
  await candidate.ready(); // one that cannot be started ends the work
  const result = await runScenario(scenario, config, candidate, pulse, coverage?.watch);
  return { result, operations: pulse.operations, coverage: coverage?.take() ?? null };
});
