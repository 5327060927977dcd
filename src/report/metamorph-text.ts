// The text of `metamorph`: each broken rule, then what was rewritten how often, then the summary.
import type { MetamorphFinding, MetamorphResult } from "../tools/metamorph/metamorph.js";
import { errorOrNull } from "./error-json.js";
import { findingJson } from "./finding-json.js";
import type { Palette } from "./palette.js";
import { counted, grouped, shortened, visible } from "./words.js";

const MESSAGE_MAX = 400;
const FINDINGS_MAX = 20;

/** @public */
export function metamorphText(
  result: MetamorphResult,
  palette: Palette,
  reproduce: (finding: MetamorphFinding) => string | null,
): string {
  const { verdict, findings, notes, applied } = result;
  const lines: string[] = [];
  for (const finding of findings.slice(0, FINDINGS_MAX)) {
    const { run, rewrite, seed, n, at, signature, message } = finding;
    const where = `operation ${grouped(n)} (${signature.op}; ${grouped(at)} of the rewritten run)`;
    lines.push(
      `${palette.bad("broken")}  ${visible(run)}, ${rewrite} with seed ${String(seed)}: ${where}`,
      `        ${shortened(visible(message), MESSAGE_MAX)}`,
    );
    const command = reproduce(finding);
    if (command !== null) lines.push(`        ${palette.dim(visible(command))}`);
  }
  const more = findings.length - FINDINGS_MAX;
  if (more > 0) lines.push(`and ${grouped(more)} more`);
  const counts = Object.entries(applied).map(([name, count]) => `${name} ${grouped(count)}`);
  lines.push(`rewritten: ${counts.join(", ")}`);
  for (const note of notes) lines.push(palette.warn(`note: ${visible(note)}`));
  const looked = [
    counted(result.runs, "run"),
    counted(result.rewritten, "rewritten run"),
    `${counted(result.operations, "operation")} compared`,
  ];
  const found = findings.length === 0 ? "" : `${counted(findings.length, "finding")}; `;
  const paint =
    verdict === "passed" ? palette.good : verdict === "failed" ? palette.bad : palette.warn;
  lines.push(paint(`${verdict}: ${found}${looked.join(", ")}`));
  return lines.join("\n");
}

/** @param reproduce - the command that shows a finding again; null: there is none. @public */
export function metamorphJson(
  { verdict, runs, rewritten, operations, applied, findings, notes, error }: MetamorphResult,
  reproduce: (finding: MetamorphFinding) => string | null,
): unknown {
  return {
    command: "metamorph",
    verdict,
    runs,
    rewritten,
    operations,
    applied,
    findings: findings.map((finding) => ({
      ...findingJson(finding),
      run: finding.run,
      rewrite: finding.rewrite,
      seed: finding.seed,
      at: finding.at,
      reproduce: reproduce(finding),
    })),
    notes,
    error: errorOrNull(error),
  };
}
