// What reports for other programs have in common, whichever command they are of: cases with a verdict each. JUnit,
// GitHub and Markdown are written from this.

/** How a case went. @public */
export type CaseStatus = "passed" | "failed" | "error" | "skipped";

/** One run, scenario or finding. Texts are as they came: each form writes out what it cannot hold. @public */
export interface ReportCase {
  readonly name: string;
  readonly status: CaseStatus;
  readonly kind: string; // of a failure: `result`, `crash`, `flaky`; else the verdict
  readonly message: string; // one sentence; empty where it passed
  readonly place: string; // `at operation 41 (tokens.decode)`; empty: none
  readonly text: readonly string[]; // the whole story, as lines
  readonly reproduce: string | null; // one command
  readonly file: string | null; // what an annotation points to
  readonly line: number | null; // 1-based
  readonly operations: number;
}

/** Cases of one implementation. @public */
export interface ReportSuite {
  readonly name: string;
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly cases: readonly ReportCase[];
}

/** Everything that one call of a command found. @public */
export interface CaseReport {
  readonly command: string;
  readonly verdict: string;
  readonly isGood: boolean;
  readonly summary: readonly string[]; // the summary lines of the text
  readonly suites: readonly ReportSuite[];
  readonly first: ReportCase | null; // the one that is told in full
}

/** A case in which nothing is wrong; what differs from that stands in `more`. @internal */
export function caseOf(name: string, more: Partial<ReportCase>): ReportCase {
  return {
    ...{ name, status: "passed", kind: "passed", message: "", place: "", text: [] },
    ...{ reproduce: null, file: null, line: null, operations: 0 },
    ...more,
  };
}

/** Numbers of a list of cases. @internal */
export function countsOf(cases: readonly ReportCase[]): Readonly<Record<CaseStatus, number>> {
  const counts = { passed: 0, failed: 0, error: 0, skipped: 0 };
  for (const { status } of cases) counts[status] += 1;
  return counts;
}
