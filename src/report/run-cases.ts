// A `run` as cases: one a scenario and configuration.
import type { RunResult, ScenarioResult } from "../tools/outcome.js";
import type { CaseReport, CaseStatus, ReportCase } from "./case-report.js";
import { caseOf } from "./case-report.js";
import { coverageLines } from "./coverage-text.js";
import { PLAIN } from "./palette.js";
import { runSummary, scenarioLine } from "./run-text.js";
import { grouped } from "./words.js";

const STATUS: Readonly<Record<RunResult["verdict"], CaseStatus>> = {
  passed: "passed",
  failed: "failed",
  invalid: "error",
  incomplete: "skipped",
  short: "failed",
};

/** @public */
export function runCases(result: RunResult): CaseReport {
  const cases = result.scenarios.map(scenarioCase);
  const isShown = result.verdict === "passed" || cases.some(({ status }) => status !== "passed");
  const summary = runSummary(result, PLAIN);
  const { verdict } = result;
  const whole = {
    ...{ status: STATUS[verdict], kind: verdict, message: summary },
    text: coverageLines(result.coverage?.tables ?? [], PLAIN),
  };
  const all = isShown ? cases : [...cases, caseOf("the whole run", whole)];
  const properties = [
    ["verdict", verdict] as const,
    ["operations", String(result.operations)] as const,
    ...Object.entries(result.counters).map(([name, count]) => [name, String(count)] as const),
  ];
  return {
    command: "run",
    verdict,
    isGood: verdict === "passed",
    summary: [summary],
    suites: [{ name: "scenarios", properties, cases: all }],
    first:
      all.find(({ status }) => status === "failed") ??
      all.find(({ status }) => status === "error") ??
      null,
  };
}

function scenarioCase(one: ScenarioResult): ReportCase {
  const { name, config, verdict, n, op, message, file, operations } = one;
  const isGood = verdict === "passed";
  return caseOf(config === null ? name : `${name} on ${config}`, {
    status: STATUS[verdict],
    kind: verdict,
    message: isGood ? "" : (message ?? verdict),
    place: n === null ? "" : `at operation ${grouped(n)}${op === null ? "" : ` (${op})`}`,
    text: isGood ? [] : scenarioLine(one, PLAIN, true).split("\n"),
    file,
    operations,
  });
}
