// The JSON document of `stress`.
import { coverageTablesJson } from "./coverage-json.js";
import { findingJson } from "./finding-json.js";
import type { ReplayedCase, StressResult } from "../tools/stress/stress.js";
import type { Reproduce } from "./stress-text.js";

/** @param reproduce - the command that shows a finding again. @public */
export function stressJson(result: StressResult, reproduce: Reproduce): unknown {
  const { verdict, runs, resumed, cases, scenarios, leftOut, findings, counts, coverage } = result;
  return {
    command: "stress",
    verdict,
    runs,
    operations: counts.operations,
    resumed,
    cases,
    scenarios,
    left_out: leftOut,
    findings: findings.map((finding) => ({
      ...findingJson(finding),
      run: finding.run,
      profile: finding.profile,
      seed: finding.seed,
      case: finding.case,
      reproduce: reproduce(finding),
    })),
    counts,
    coverage: coverageTablesJson(coverage),
  };
}

/** The document of `stress --replay`. @public */
export function replayedJson(
  { name, seed, finding, others, counts }: ReplayedCase,
  file: string,
): unknown {
  const found = [...(finding === null ? [] : [finding]), ...others];
  return {
    command: "stress",
    verdict: finding === null ? "not_repeated" : "failed",
    runs: 1,
    operations: counts.operations,
    resumed: 0,
    cases: 1,
    scenarios: 0,
    left_out: 0,
    findings: found.map((one) => ({
      ...findingJson(one),
      run: name,
      profile: null,
      seed,
      case: file,
      reproduce: null,
    })),
    counts,
    coverage: [],
  };
}
