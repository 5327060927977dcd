// The text of `stress`: what was found and how to see it again, what the seeds exercised, the summary.
import type { Finding } from "../tools/findings.js";
import type { CoverageTable } from "../tools/coverage-counts.js";
import type { ReplayedCase, StressFinding, StressResult } from "../tools/stress/stress.js";
import type { Palette } from "./palette.js";
import { counted, grouped, visible } from "./words.js";

const FINDINGS_MOST = 20;

/** The command that shows a finding again; null where there is none. @public */
export type Reproduce = (finding: StressFinding) => string | null;

/** Findings, coverage and the summary. @param reproduce - the command that shows a finding again. @public */
export function stressText(
  result: StressResult,
  palette: Palette,
  verbose: boolean,
  reproduce: Reproduce,
): string {
  const shown = verbose ? result.findings : result.findings.slice(0, FINDINGS_MOST);
  const hidden = result.findings.length - shown.length;
  return [
    ...shown.flatMap((finding) => findingLines(finding, finding.run, palette, reproduce(finding))),
    ...(hidden > 0 ? [`${counted(hidden, "finding")} more: --verbose shows all`] : []),
    ...result.coverage.map((table) => coverageLine(table, palette, verbose)),
    stressSummary(result, palette),
  ].join("\n");
}

/** A finding in full, as lines. @internal */
export function findingLines(
  { signature, n, message, actors, bytes, band }: Finding,
  run: string,
  palette: Palette,
  reproduce: string | null,
): string[] {
  const component = signature.component === null ? "" : ` in ${visible(signature.component)}`;
  const head = `${signature.check}${component}: operation ${grouped(n)} (${signature.op}) of ${visible(run)}`;
  const where = [
    ...(actors === undefined ? [] : [`actors ${actors.map(visible).join(" and ")}`]),
    ...(bytes === undefined ? [] : [`bytes ${bytes.map(grouped).join(" to ")}`]),
    ...(band === undefined ? [] : [`band ${visible(band)}`]),
  ];
  return [
    palette.bad(head),
    `  ${visible(message)}`,
    ...(where.length === 0 ? [] : [`  ${where.join("; ")}`]),
    ...(reproduce === null ? [] : [palette.dim(`  ${visible(reproduce)}`)]),
  ];
}

function coverageLine(
  { name, items, covered }: CoverageTable,
  palette: Palette,
  verbose: boolean,
): string {
  const missing = items.filter(({ isCovered }) => !isCovered).map((item) => item.name);
  const most = verbose ? missing.length : 4;
  const more = missing.length > most ? ", …" : "";
  const tail =
    missing.length === 0 ? "" : `  not reached: ${missing.slice(0, most).join(", ")}${more}`;
  const head = `${name.padEnd(18)} ${String(covered).padStart(3)} of ${String(items.length).padStart(3)}`;
  return `${head}${palette.dim(tail)}`;
}

/** The last line: the verdict and the numbers. @internal */
export function stressSummary(result: StressResult, palette: Palette): string {
  const { verdict, runs, resumed, cases, leftOut, findings, counts, scenarios } = result;
  const parts = [
    `${counted(runs, "run")} and ${counted(counts.operations, "operation")} on 2 ranks`,
    `${counted(counts.tried, "answer")} tried on a copy`,
    ...(scenarios > 0 ? [counted(scenarios, "scenario")] : []),
    ...(cases > 0 ? [`${counted(cases, "saved case")} run again`] : []),
    ...(resumed > 0 ? [`${counted(resumed, "run")} done before`] : []),
    ...(leftOut > 0 ? [`${counted(leftOut, "run")} left out`] : []),
    ...(findings.length > 0 ? [counted(findings.length, "finding")] : ["nothing found"]),
  ];
  const paint =
    verdict === "passed" ? palette.good : verdict === "failed" ? palette.bad : palette.warn;
  return paint(`${verdict}: ${parts.join(", ")}`);
}

/** The text of `stress --replay`. @public */
export function replayedText(
  { name, finding, others, counts }: ReplayedCase,
  palette: Palette,
): string {
  const shown = [...(finding === null ? [] : [finding]), ...others];
  const verdict =
    finding !== null
      ? palette.bad(`failed: ${visible(name)} fails as it did`)
      : palette.warn(`not repeated: ${visible(name)} no longer fails`);
  return [
    ...shown.flatMap((one) => findingLines(one, name, palette, null)),
    `${verdict}, ${counted(counts.operations, "operation")}`,
  ].join("\n");
}
