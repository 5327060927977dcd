// A scenario that failed, run once more: what was expected where it failed, what came, and the page maps around it.
import type { Expectation, Mismatch, Scenario } from "../../workload/scenario.js";
import { scenarioWorkload } from "../../workload/scenario.js";
import { Candidate } from "../candidate.js";
import { Pulse, type ToolControl } from "../pulse.js";
import { scenarioFault } from "../run-scenario.js";
import { type CaseView, collectCase } from "./case-view.js";
import type { MapImplementation } from "./map-source.js";

/** @public */
export interface FailedScenarioOptions extends ToolControl {
  readonly scenario: Scenario;
  readonly config: string | null; // null: its own
  readonly implementation: MapImplementation;
  readonly n: number; // the operation at fault
}

/** @public */
export interface FailedScenario extends CaseView {
  readonly expected: Expectation | null; // what the file says of the operation at fault, null: that it is granted
  readonly mismatch: Mismatch | null;
  readonly check: string | null; // what found it: `expectation`, `law`, a rule of the audit, …; null: nothing was found again
  readonly isRepeated: boolean; // it failed again at the same operation
}

/** Runs a scenario again that failed. Throws `CandidateError`. @public */
export async function failedScenario(options: FailedScenarioOptions): Promise<FailedScenario> {
  const { scenario, config, implementation, n, ...control } = options;
  const candidate = new Candidate(implementation.start);
  try {
    const fault = await scenarioFault(scenario, config, candidate, new Pulse(control));
    const workload = scenarioWorkload(scenario, config);
    const view = await collectCase({ workload, implementation, n, ...control });
    const isRepeated = fault?.verdict === "failed" && fault.n === n;
    const expected = scenario.ops[n]?.expect ?? null;
    const { mismatch = null, check = null } = fault ?? {};
    return { ...view, expected, mismatch, check, isRepeated };
  } finally {
    await candidate.dispose();
  }
}
