// Scenarios over several threads. They know nothing of each other, so each thread takes the next one; what comes out is what
// one thread finds, in the same order.
import { builtScript } from "../../base/built-script.js";
import type { RunResult, ScenarioResult } from "../outcome.js";
import { RunCoverage } from "../run-coverage.js";
import { covered, planOf, resultOf } from "../run-scenarios.js";
import type { RunScenariosOptions } from "../run-scenarios.js";
import { workInThreads } from "../worker-threads.js";
import type { ImplementationData } from "./part.js";
import type { RunnerPlan, ScenarioAnswer, ScenarioPiece } from "./run-worker.js";

/** @public */
export interface RunParallelOptions extends Omit<RunScenariosOptions, "start"> {
  readonly jobs: number; // threads, 1 or more
  readonly implementation: ImplementationData;
}

/** As `runScenarios`, with the same result. @public */
export async function runParallel(options: RunParallelOptions): Promise<RunResult> {
  const { jobs, implementation, signal, onProgress, isTimeOver } = options;
  const plan = planOf(options);
  const results = new Map<number, ScenarioResult>();
  const coverage = options.coverage === undefined ? null : new RunCoverage();
  const data: RunnerPlan = { implementation, countsCoverage: coverage !== null };
  let next = 0;
  let operations = 0;
  await workInThreads<ScenarioPiece, ScenarioAnswer>({
    script: builtScript("tools/parallel/run-worker.js"),
    data,
    threads: Math.max(1, Math.min(jobs, plan.pieces.length)),
    signal,
    take: () => {
      signal?.throwIfAborted();
      return isTimeOver?.() === true ? null : (plan.pieces[next++] ?? null);
    },
    done: ({ place }, answer) => {
      results.set(place, answer.result);
      operations += answer.operations;
      if (answer.coverage !== null) coverage?.join(answer.coverage);
      onProgress?.({ runs: results.size, operations, run: null });
    },
  });
  return covered(resultOf(plan, results, operations), coverage, options.coverage);
}
