// A judge that runs implementations, and what its case must answer once it is written down.
import type { Answer } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { findOperation } from "../../trace/operation-table.js";
import { runWords } from "../../trace/run-words.js";
import { expectationProblem } from "../../workload/scenario-expect.js";
import { matchExpectation } from "../../workload/scenario.js";
import type { Expectation, ScenarioEnd } from "../../workload/scenario.js";
import type { Judge, ShrinkCase } from "./case.js";
import type { FailingCase } from "./shrink.js";

/** What each operation of a case must answer; null: `ok`. @public */
export interface Expected {
  readonly expects: readonly (Expectation | null)[];
  readonly finally: ScenarioEnd;
}

/** @internal */
export interface RunningJudge {
  readonly judge: Judge;
  /** What the operations of a failing case must answer. */
  expected(failing: FailingCase): Promise<Expected>;
  /** Ends the implementations; the next judgement starts them afresh. */
  dispose(): Promise<void>;
}

/** The outcome alone: granted, or refused with this code and rule. @internal */
export function outcomeOf({ err }: Answer): Expectation | null {
  if (err === undefined) return null;
  return { err: { code: err.code, ...(err.rule === undefined ? {} : { rule: err.rule }) } };
}

/** What tells the right answer of a case's last operation from the wrong one. @internal */
export interface Answers {
  readonly right: Answer;
  readonly wrong: Answer | null; // null: the implementation broke
  readonly hasEffects: boolean; // both sides tell them
  /** Where the answers are the same: the state behind the right one, and the component that differs. */
  readonly state: State | null;
  readonly component: string | null;
}

/** An expectation that the right answer meets and, where anything does, the wrong one does not. @internal */
export function tellingExpectation(value: ShrinkCase, answers: Answers): Expectation | null {
  const { right, wrong, hasEffects, state, component } = answers;
  const { message: _, ...err } = right.err ?? { code: "" };
  const exact: Expectation = {
    ...(right.err === undefined ? { ok: right.ok } : { err }),
    ...(hasEffects ? { fx: right.fx ?? [] } : {}),
  };
  const content = component === null ? undefined : state?.[component];
  const tries: Expectation[] = [exact];
  if (content !== undefined) tries.push({ ...exact, state: { [component ?? ""]: content } });
  // the wrong answer has all of the right one and more
  if (wrong?.ok !== undefined) tries.push({ ok: { not: wrong.ok } });
  const fitting = tries.filter(
    (expect) => isWellFormed(value, expect) && matchExpectation(expect, right, state) === null,
  );
  const telling = fitting.find((expect) => {
    return wrong === null || matchExpectation(expect, wrong, null) !== null;
  });
  return telling ?? fitting[0] ?? outcomeOf(right);
}

function isWellFormed({ config, ops }: ShrinkCase, expect: Expectation): boolean {
  const spec = findOperation(ops.at(-1)?.op ?? "");
  if (spec === undefined) return false;
  return expectationProblem(spec, { ...expect }, runWords("kv", config), "") === null;
}
