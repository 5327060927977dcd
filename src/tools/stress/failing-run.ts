// The run that a finding of `stress` is about, as a workload: from its saved case, its scenario, or its seed.
import type { Answer, KvOperation, RunConfig } from "../../base/operations.js";
import { isLayout } from "../../workload/layouts.js";
import { loadScenarios, type Scenario, scenarioWorkload } from "../../workload/scenario.js";
import type { Workload, WorkloadStep } from "../../workload/workload.js";
import { loadCase } from "./cases.js";
import { barrierBehind, stressSeed } from "./seed.js";
import type { StressFinding } from "./stress.js";

/** What a run's operations follow from beside its name. @public */
export interface FailingRunPlan {
  readonly ops: number; // of a seed
  readonly questionsEvery: number;
  readonly isReplayed: boolean; // the file is run as a case, whatever it is
}

/** Null where it cannot be had again: the name says of no seed, or nothing is found any more. Throws `InputError` for a file
 * that is gone or wrong. @public */
export function failingRun(finding: StressFinding, plan: FailingRunPlan): Workload | null {
  const { run, profile, case: file } = finding;
  if (file === null) return ofSeed(run, profile, plan);
  const [scenario] = plan.isReplayed || profile !== null ? [] : loadScenarios([file]);
  const entry = scenario?.configs.find(([name]) => nameOf(scenario, name) === run);
  if (scenario === undefined || entry === undefined || scenario.found?.by === "stress") {
    const { name, config, ops } = loadCase(file);
    return listed(name, config, ops);
  }
  return withBarriers(scenario, entry[0]); // one of those that run before the seeds
}

function ofSeed(run: string, profile: string | null, plan: FailingRunPlan): Workload | null {
  const [, layout = "", pageSize = "", seed = ""] = /^(.+)\/p(\d+)\/seed-(\d+)$/.exec(run) ?? [];
  if (!isLayout(layout)) return null;
  const { config, ops } = stressSeed({
    ...{ seed: Number(seed), layout, pageSize: Number(pageSize) },
    ...{ ops: plan.ops, questionsEvery: plan.questionsEvery },
    ...(profile === null ? {} : { profile }),
  });
  const operations = ops.map(({ operation }) => operation);
  return operations.length === 0 ? null : listed(run, config, operations);
}

function nameOf({ name }: Scenario, config: string | null): string {
  return config === null ? name : `${name}@${config}`;
}

function listed(run: string, config: RunConfig, operations: readonly KvOperation[]): Workload {
  let at = 0;
  const source = { type: "scenario", name: run } as const;
  return {
    ...{ run, config, source },
    next(): WorkloadStep | null {
      const operation = operations[at++];
      return operation === undefined ? null : { operation };
    },
  };
}

/** As the harness runs it: one that says nothing of barriers has the engine's usual one behind each forward. */
function withBarriers(scenario: Scenario, configName: string | null): Workload {
  const workload = scenarioWorkload(scenario, configName);
  const { run, config, source } = workload;
  if (scenario.ops.some(({ operation }) => operation.op === "forward.barrier")) return workload;
  let asked: KvOperation | null = null; // of the workload
  let kept: Answer | null = null; // its answer, while a barrier is asked
  return {
    ...{ run, config, source },
    next(answer): WorkloadStep | null {
      const barrier = asked === null || answer === null ? null : barrierBehind(asked, answer);
      if (barrier !== null) {
        kept = answer;
        asked = null;
        return { operation: barrier };
      }
      const step = workload.next(kept ?? answer);
      kept = null;
      asked = step !== null && "operation" in step ? (step.operation as KvOperation) : null; // scenarios are of domain kv
      return step;
    },
  };
}
