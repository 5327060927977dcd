// What the page of `run` tells: every scenario, and what went wrong in those that failed.
import type { RunResult, ScenarioResult } from "../../tools/outcome.js";
import type { FailedScenario } from "../../tools/view/failed-scenario.js";
import type { Expectation } from "../../workload/scenario.js";
import { fieldDiff } from "../answer-diff.js";
import type { ReportCase } from "../case-report.js";
import { PLAIN } from "../palette.js";
import { runCases } from "../run-cases.js";
import { runText } from "../run-text.js";
import { valueText } from "../values.js";
import { counted, grouped } from "../words.js";
import type { CasesPage } from "./cases-page.js";
import { type CaseDetail, NO_DETAIL } from "./failure-html.js";

/** What is known of a scenario that did not pass, beside its verdict. @public */
export interface ToldScenario {
  readonly story: string;
  readonly again: FailedScenario | null; // run once more; null: it was not
  readonly noMaps: string | null; // why not, as a sentence
}

/** @public */
export interface RunPage {
  readonly result: RunResult;
  readonly told: ReadonlyMap<ScenarioResult, ToldScenario>;
  readonly reproduce: (one: ScenarioResult) => string | null;
  readonly notes: readonly string[];
}

/** What the page is made of. @public */
export function runPage({ result, told, reproduce, notes }: RunPage): CasesPage {
  const report = runCases(result);
  const details = new Map<ReportCase, CaseDetail>();
  const suites = report.suites.map((suite) => ({
    ...suite,
    cases: suite.cases.map((one, index) => {
      const scenario = result.scenarios[index]; // `the whole run`, the last one, is none
      if (scenario === undefined || one.status === "passed") return one;
      const shown = { ...one, reproduce: reproduce(scenario) };
      const known = told.get(scenario);
      details.set(shown, known === undefined ? NO_DETAIL : detailOf(scenario, known));
      return shown;
    }),
  }));
  return {
    report: { ...report, suites },
    heading: headingOf(result),
    numbers: numbersOf(result),
    notes,
    details,
    text: runText(result, PLAIN, true),
  };
}

function headingOf({ verdict, scenarios, leftOut }: RunResult): string {
  const all = counted(scenarios.length, "run");
  const count = (wanted: string): number =>
    scenarios.filter((one) => one.verdict === wanted).length;
  const left = leftOut === 0 ? "" : `; ${counted(leftOut, "run")} left out`;
  if (count("failed") > 0) return `${grouped(count("failed"))} of ${all} failed${left}.`;
  if (count("invalid") > 0)
    return `${grouped(count("invalid"))} of ${all} cannot be judged${left}.`;
  if (verdict === "short") return `All ${all} passed, and exercised less than was asked.`;
  if (verdict !== "passed") return `Nothing failed in ${all}, but that is not the whole${left}.`;
  return scenarios.length === 1 ? "The run passed." : `All ${all} passed.`;
}

function numbersOf(result: RunResult): [string, string][] {
  const { scenarios, operations, counters, leftOut, coverage } = result;
  const numbers: [string, string][] = [["verdict", result.verdict]];
  for (const verdict of ["passed", "failed", "invalid", "incomplete"] as const) {
    const count = scenarios.filter((one) => one.verdict === verdict).length;
    if (count > 0) numbers.push([`runs ${verdict}`, grouped(count)]);
  }
  numbers.push(["operations", grouped(operations)]);
  if (leftOut > 0) numbers.push(["runs left out", grouped(leftOut)]);
  if (coverage !== undefined) numbers.push(["exercised", `${coverage.percent} %`]);
  for (const [name, count] of Object.entries(counters))
    numbers.push([name.replaceAll("_", " "), grouped(count)]);
  return numbers;
}

function detailOf({ n, op }: ScenarioResult, { story, again, noMaps }: ToldScenario): CaseDetail {
  const own = { ...NO_DETAIL, story: story === "" ? null : story, n, noMaps };
  if (again === null) return own;
  const { asked, answer, expected, mismatch, check, isRepeated, view } = again;
  const fields =
    mismatch === null
      ? []
      : [{ path: mismatch.path, base: mismatch.expected, candidate: mismatch.got }];
  return {
    ...own,
    // what does not hold at the end is no operation's fault
    asked: asked === null || op === null ? null : `${asked.op} ${valueText(asked.args)}`,
    expected: check === "expectation" ? expectedText(expected) : null,
    got: op === null || asked === null ? null : (answer ?? "nothing"),
    diff: fieldDiff(fields, true),
    view,
    noMaps: isRepeated
      ? noMaps
      : "It was run once more for this page and did not fail there again: the implementation does not do the same twice.",
  };
}

function expectedText(expected: Expectation | null): string {
  if (expected === null) return "granted";
  const { ok, err, fx, state } = expected;
  const granted = ok === undefined ? "granted" : `granted: ${valueText(ok)}`;
  return [
    err === undefined ? granted : `refused: ${valueText(err)}`,
    ...(fx === undefined ? [] : [`effects: ${valueText(fx)}`]),
    ...(state === undefined ? [] : [`state: ${valueText(state)}`]),
  ].join("; ");
}
