// `stress` as cases: one a finding, and one of everything that was run.
import type { StressResult } from "../tools/stress/stress.js";
import type { CaseReport, ReportCase } from "./case-report.js";
import { caseOf } from "./case-report.js";
import { PLAIN } from "./palette.js";
import { findingLines, type Reproduce, stressSummary } from "./stress-text.js";
import { grouped } from "./words.js";

/** @param reproduce - the command that shows a finding again. @public */
export function stressCases(result: StressResult, reproduce: Reproduce): CaseReport {
  const { verdict, findings, counts } = result;
  const summary = stressSummary(result, PLAIN);
  const found = findings.map((finding): ReportCase => {
    const { run, n, message, signature } = finding;
    return caseOf(run, {
      ...{ status: "failed", kind: signature.check, message },
      place: `at operation ${grouped(n)} (${signature.op})`,
      text: findingLines(finding, run, PLAIN, null),
      reproduce: reproduce(finding),
      file: finding.case,
    });
  });
  // the runs without a finding are told in one case: there may be thousands
  const whole = caseOf("every other run", {
    ...(verdict === "incomplete" ? { status: "skipped", kind: verdict, message: summary } : {}),
    operations: counts.operations,
  });
  return {
    command: "stress",
    verdict,
    isGood: verdict === "passed",
    summary: [summary],
    suites: [{ name: "page safety", properties: [["verdict", verdict]], cases: [...found, whole] }],
    first: found[0] ?? null,
  };
}
