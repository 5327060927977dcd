// Scenario files: a named situation with a story, checked before anything runs.
import { InternalError } from "../base/errors.js";
import type { Answer, DirectConfig, KvOperation } from "../base/operations.js";
import type { State } from "../base/state.js";
import type { Workload } from "./workload.js";

/** What an answer must look like; a partial match (`docs/trace-format.md`, section 6). @public */
export interface Expectation {
  readonly ok?: unknown;
  readonly err?: unknown;
  readonly fx?: unknown;
  readonly state?: unknown;
}
/** @public */
export interface ScenarioOperation {
  readonly operation: KvOperation;
  readonly expect: Expectation | null; // null: the operation must be `ok`
}
/** @public */
export interface Scenario {
  readonly file: string;
  readonly name: string;
  readonly story: string;
  readonly tags: readonly string[];
  readonly configs: readonly (readonly [name: string | null, config: DirectConfig])[]; // null: its own
  readonly ops: readonly ScenarioOperation[]; // boot first
  readonly finally: {
    readonly quiescent?: boolean;
    readonly ledger?: "empty";
    readonly drain?: boolean;
  };
  /** Why the scenario is *invalid* (a name nothing opens), null where it is not. */
  readonly invalid: { readonly index: number; readonly message: string } | null;
}
/** @public */
export interface Mismatch {
  readonly path: string; // from `/ok`, `/err`, `/fx` or `/state`
  readonly expected: unknown;
  readonly got: unknown;
}
/** @public */
export interface ScenarioWorkload extends Workload {
  /** What operation `n` of the run must answer (drain operations included); null: `ok`. */
  expectation(n: number): Expectation | null;
  /** Index of the first operation of the drain, null where there is none or it has not begun. */
  readonly drainsFrom: number | null;
}

/** Files and folders (their `*.json`, `configs.json` left out); throws `InputError` naming file and place. @public */
export function loadScenarios(paths: readonly string[]): readonly Scenario[] {
  throw new InternalError(`loadScenarios is not there yet (${String(paths.length)})`);
}
/** The first difference between an expectation and an answer, null where it holds. `state` is needed where the
 * expectation has one. @public */
export function matchExpectation(
  expect: Expectation | null,
  answer: Answer,
  state?: State | null,
): Mismatch | null {
  throw new InternalError(
    `matchExpectation is not there yet ${String(expect)}${String(answer)}${String(state)}`,
  );
}
/** Run id `NAME` with its own config, else `NAME@CONFIG`. `configName` null: its own config. @public */
export function scenarioWorkload(scenario: Scenario, configName: string | null): ScenarioWorkload {
  throw new InternalError(
    `scenarioWorkload is not there yet ${scenario.name}${String(configName)}`,
  );
}
/** Checks `quiescent` and `ledger` on the state as the operations left it (before the drain). @public */
export function checkFinally(scenario: Scenario, state: State): Mismatch | null {
  throw new InternalError(`checkFinally is not there yet ${scenario.name}${String(state)}`);
}
/** What of the boot state a drained state lacks (spans, live, holes, pending, ids as a set); null: it is back. @public */
export function differenceFromBoot(boot: State, drained: State): Mismatch | null {
  throw new InternalError(`differenceFromBoot is not there yet ${String(boot)}${String(drained)}`);
}
