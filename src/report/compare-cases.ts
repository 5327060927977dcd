// A comparison as cases: one a run, and one of the whole where no run shows what is wrong.
import type { CompareResult, RunComparison, SideInfo } from "../tools/outcome.js";
import type { CaseReport, ReportCase, ReportSuite } from "./case-report.js";
import { caseOf } from "./case-report.js";
import { compareSummary, runLine } from "./compare-text.js";
import { divergenceSentence, divergenceText, placeText } from "./divergence-text.js";
import { PLAIN } from "./palette.js";
import { counted, revisionName } from "./words.js";

const OPTIONS = { palette: PLAIN, verbose: false };
const GOOD: ReadonlySet<string> = new Set(["equal", "agree"]);

/** @param trace - the hash of the base with its kind, as in the text. @public */
export function compareCases(results: readonly CompareResult[], trace: string | null): CaseReport {
  const suites = results.map((result) => suiteOf(result, trace));
  const isSeveral = results.length > 1;
  const verdicts = [...new Set(results.map(({ verdict }) => verdict))];
  const summaries = results.map((result, index) => {
    const line = compareSummary(result, PLAIN);
    return isSeveral ? `${suites[index]?.name ?? ""}: ${line}` : line;
  });
  return {
    command: "compare",
    verdict: verdicts.join(", "),
    isGood: results.every(({ verdict }) => GOOD.has(verdict)),
    summary: summaries,
    suites,
    first: earliest(results, suites),
  };
}

// The case of the smallest operation over all candidates; without a divergence the first that did not pass.
function earliest(
  results: readonly CompareResult[],
  suites: readonly ReportSuite[],
): ReportCase | null {
  let found: { readonly n: number; readonly at: ReportCase | undefined } | null = null;
  for (const [index, { first, runs }] of results.entries()) {
    if (first === null || (found !== null && found.n <= first.n)) continue;
    const at = suites[index]?.cases[runs.findIndex(({ run }) => run === first.run)];
    found = { n: first.n, at };
  }
  const bad = suites
    .flatMap(({ cases }) => cases)
    .find(({ status }) => status === "failed" || status === "error");
  return found?.at ?? bad ?? null;
}

function suiteOf(result: CompareResult, trace: string | null): ReportSuite {
  const { base, candidate, runs } = result;
  const cases = runs.map((run) => runCase(run, base));
  return {
    name: candidate?.spec ?? "candidate",
    properties: [
      ...sideProperties("base", base),
      ...(trace === null ? [] : [["base.trace", trace] as const]),
      ...sideProperties("candidate", candidate),
      ["mode", result.mode],
      ["verdict", result.verdict],
      ["operations", String(result.operations)],
    ],
    cases: [...cases, ...wholeCases(result, cases)],
  };
}

function sideProperties(name: string, side: SideInfo | null): (readonly [string, string])[] {
  if (side === null) return [];
  return [
    [name, side.spec],
    [`${name}.program`, `${side.name} ${side.version}`],
    [`${name}.revision`, revisionName(side.revision, side.dirty)],
  ];
}

function runCase(run: RunComparison, base: SideInfo | null): ReportCase {
  const { divergence, unstable, accepted, note } = run;
  const spec = base?.spec ?? "-";
  const common = { file: spec === "-" ? null : spec, operations: run.agreed };
  if (unstable !== null) {
    return caseOf(run.run, {
      ...common,
      ...{ status: "failed", kind: "flaky", text: [runLine(run, PLAIN)] },
      message: "the candidate does not do the same twice",
      place: `at operation ${unstable.n} (${unstable.op})`,
      reproduce: run.reproduce,
    });
  }
  if (divergence !== null) {
    const sentence = divergenceSentence(divergence);
    return caseOf(run.run, {
      ...common,
      status: accepted === null ? "failed" : "skipped",
      kind: accepted === null ? divergence.kind : "accepted",
      message: accepted === null ? sentence : `accepted (${accepted}): ${sentence}`,
      place: placeText(divergence),
      text: divergenceText({ ...run, reproduce: null }, OPTIONS),
      reproduce: run.reproduce,
    });
  }
  if (GOOD.has(run.verdict)) return caseOf(run.run, { ...common, kind: run.verdict });
  const status = run.verdict === "incomplete" ? "skipped" : "error";
  const message = note ?? `${run.verdict}: ${counted(run.agreed, "operation")} agree`;
  return caseOf(run.run, { ...common, status, kind: run.verdict, message });
}

// Never a report in which everything passed when the verdict says otherwise.
function wholeCases(result: CompareResult, cases: readonly ReportCase[]): ReportCase[] {
  const { error, verdict } = result;
  const name = "the whole comparison";
  const summary = compareSummary(result, PLAIN);
  if (error !== null) {
    const { file, line } = error.place;
    return [
      caseOf(name, {
        ...{ status: "error", kind: error.code, message: error.describe(), text: [summary] },
        ...{ file: file ?? null, line: line ?? null },
      }),
    ];
  }
  if (GOOD.has(verdict)) return [];
  const isShown = cases.some(({ status }) =>
    verdict === "incomplete" ? status === "skipped" : status === "failed" || status === "error",
  );
  if (isShown) return [];
  const status = verdict === "incomplete" ? "skipped" : verdict === "invalid" ? "error" : "failed";
  return [caseOf(name, { status, kind: verdict, message: summary, text: [summary] })];
}
