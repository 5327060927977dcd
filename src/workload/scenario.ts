// A scenario as a workload: boot, its operations, and, where it asks for a drain, the operations that end everything.
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import type { Answer, KvOperation, RunConfig } from "../base/operations.js";
import type { State } from "../base/state.js";
import { firstLedgerRecord, firstUnsettled, OpenThings } from "./scenario-drain.js";
import type { Scenario, ScenarioOperation } from "./scenario-file.js";
import type { Expectation, Mismatch } from "./scenario-match.js";
import type { RunSource, Workload, WorkloadStep } from "./workload.js";

export { differenceFromBoot } from "./scenario-drain.js";
export type { FoundFailure, Scenario, ScenarioEnd, ScenarioOperation } from "./scenario-file.js";
export { loadScenarios } from "./scenario-file.js";
export type { Expectation, Mismatch } from "./scenario-match.js";
export { matchExpectation } from "./scenario-match.js";

/** @public */
export interface ScenarioWorkload extends Workload {
  readonly scenario: Scenario;
  /** What operation `n` of the run must answer, drain operations included; null: `ok`. */
  expectation(n: number): Expectation | null;
  /** Number of the first drain operation, null while there is none. */
  readonly drainsFrom: number | null;
  /** What is open as names tell it (forwards, an open group, copies, loads); empty: nothing. For an implementation
   * that gives no state. */
  unsettled(): readonly string[];
}

/**
 * Run id `NAME` with the scenario's own configuration (`configName` null), else `NAME@CONFIG`. Throws `UsageError`
 * for a configuration the scenario does not name. @public
 */
export function scenarioWorkload(scenario: Scenario, configName: string | null): ScenarioWorkload {
  const entry = scenario.configs.find(([name]) => name === configName);
  if (entry === undefined) {
    const known = scenario.configs.map(([name]) => name ?? "its own");
    const nearest = configName === null ? null : nearestWord(configName, known);
    const hint = nearest === null ? `it has ${known.join(", ")}` : `did you mean "${nearest}"?`;
    throw new UsageError(
      `scenario ${scenario.name} does not run on ${configName ?? "its own configuration"}; ${hint}`,
    );
  }
  return new ScenarioRun(scenario, configName, entry[1]);
}

/** Checks `quiescent` and `ledger` on the state as the scenario's operations left it, before any drain. @public */
export function checkFinally(scenario: Scenario, state: State): Mismatch | null {
  const end = scenario.finally;
  if (end.quiescent === true) {
    const mismatch = firstUnsettled(state);
    if (mismatch !== null) return mismatch;
  }
  return end.ledger === "empty" ? firstLedgerRecord(state) : null;
}

// What the last drain operation must find.
const HEALTHY: Expectation = { ok: { violations: [], skipped: false } };

class ScenarioRun implements ScenarioWorkload {
  readonly run: string;
  readonly config: RunConfig;
  readonly source: RunSource;
  readonly scenario: Scenario;
  readonly #ops: readonly ScenarioOperation[];
  readonly #things = new OpenThings();
  #drain: KvOperation[] | null = null;
  #last: KvOperation | null = null;
  #yielded = 0;

  constructor(scenario: Scenario, configName: string | null, config: RunConfig) {
    this.run = configName === null ? scenario.name : `${scenario.name}@${configName}`;
    this.config = config;
    this.source = { type: "scenario", name: scenario.name };
    this.scenario = scenario;
    this.#ops = scenario.ops;
  }

  next(answer: Answer | null): WorkloadStep | null {
    if (this.#last !== null && answer !== null) this.#things.learn(this.#last, answer);
    const operation = this.#ops[this.#yielded]?.operation ?? this.#nextDrain();
    this.#last = operation;
    if (operation === null) return null;
    this.#yielded += 1;
    return { operation };
  }

  expectation(n: number): Expectation | null {
    if (n < this.#ops.length) return this.#ops[n]?.expect ?? null;
    const drain = this.#drain ?? [];
    return n === this.#ops.length + drain.length - 1 ? HEALTHY : null;
  }

  get drainsFrom(): number | null {
    return this.#drain === null ? null : this.#ops.length;
  }

  unsettled(): readonly string[] {
    return this.#things.unsettled();
  }

  #nextDrain(): KvOperation | null {
    if (this.scenario.finally.drain !== true) return null;
    this.#drain ??= this.#things.drainOperations();
    return this.#drain[this.#yielded - this.#ops.length] ?? null;
  }
}
