// The page of a saved comparison: what the report holds of every run. States and maps are not in it.
import type { CompareResult } from "../../tools/outcome.js";
import type { ReportCase } from "../case-report.js";
import { compareCases } from "../compare-cases.js";
import { comparisonsText } from "../compare-text.js";
import { PLAIN } from "../palette.js";
import { counted, grouped } from "../words.js";
import type { CasesPage } from "./cases-page.js";
import { type CaseDetail, NO_DETAIL } from "./failure-html.js";
import { savedHtml } from "./sections.js";

/** What the page is made of. @param trace - hash of the base with its kind. @public */
export function savedComparePage(
  results: readonly CompareResult[],
  trace: string | null,
): CasesPage {
  const report = compareCases(results, trace);
  const details = new Map<ReportCase, CaseDetail>();
  const suites = report.suites.map((suite, at) => ({
    ...suite,
    cases: suite.cases.map((one, index) => {
      const name = results.length > 1 ? `${suite.name}: ${one.name}` : one.name;
      const named = { ...one, name };
      const result = results[at];
      const run = result?.runs[index]; // `the whole comparison`, the last one, is none
      if (result === undefined || run?.divergence === null || run === undefined) return named;
      const html = savedHtml(run, result.mode);
      const noMaps = one.reproduce === null ? null : drawnBy(one.reproduce);
      details.set(named, { ...NO_DETAIL, n: run.divergence.n, html, noMaps });
      return named;
    }),
  }));
  return {
    report: { ...report, suites },
    heading: headingOf(results),
    numbers: numbersOf(results, trace),
    notes: [],
    details,
    text: comparisonsText(results, { palette: PLAIN, verbose: true, trace }),
  };
}

function drawnBy(reproduce: string): string {
  const [command = ""] = reproduce.split(/ {3}# /, 1);
  return `A saved report holds no page maps. With the trace at hand this draws them: ${command} --html FILE`;
}

function headingOf(results: readonly CompareResult[]): string {
  const runs = results.flatMap((result) => result.runs);
  const divergent = runs.filter(({ divergence }) => divergence !== null).length;
  const all = counted(runs.length, "run");
  if (divergent > 0) return `${grouped(divergent)} of ${all} differ.`;
  const verdicts = [...new Set(results.map(({ verdict }) => verdict))];
  return `No difference in ${all}: ${verdicts.join(", ")}.`;
}

function numbersOf(results: readonly CompareResult[], trace: string | null): [string, string][] {
  const [first] = results;
  const runs = results.flatMap((result) => result.runs);
  const operations = results.reduce((sum, result) => sum + result.operations, 0);
  return [
    ["verdict", [...new Set(results.map(({ verdict }) => verdict))].join(", ")],
    ["mode", first?.mode ?? ""],
    ["base", first?.base?.spec ?? "unknown"],
    ["candidate", results.map(({ candidate }) => candidate?.spec ?? "unknown").join(", ")],
    ["runs", grouped(runs.length)],
    ["operations", grouped(operations)],
    ...(trace === null ? [] : [["trace", trace] as [string, string]]),
  ];
}
