// The text and the JSON document of `audit`.
import type { UnifiedTraceError } from "../base/errors.js";
import type { AuditResult, PlacedFinding } from "../tools/audit/audit.js";
import { errorOrNull } from "./error-json.js";
import type { Palette } from "./palette.js";
import { counted, visible } from "./words.js";

/** One file: what was found, or why it could not be read. @public */
export type FileAudit =
  | { readonly file: string; readonly result: AuditResult }
  | { readonly file: string; readonly result: null; readonly error: UnifiedTraceError };

/** @public */
export type AuditVerdict = "clean" | "broken" | "invalid" | "incomplete";

/** @public */
export function auditVerdict(files: readonly FileAudit[]): AuditVerdict {
  if (files.some(({ result }) => (result?.findings.length ?? 0) > 0)) return "broken";
  if (files.some(({ result }) => result === null || result.error !== null)) return "invalid";
  return files.some(({ result }) => result?.isPartial === true) ? "incomplete" : "clean";
}

/** A line a finding, then what was not checked, then the summary. @public */
export function auditText(files: readonly FileAudit[], palette: Palette): string {
  const lines = files.flatMap((file) => fileLines(file, palette));
  let [runs, operations, findings, broken] = [0, 0, 0, 0];
  for (const { result } of files) {
    if (result === null) continue;
    runs += result.runs;
    operations += result.operations;
    findings += result.findings.length + result.more;
    broken += result.broken;
  }
  const looked = `${counted(runs, "run")} and ${counted(operations, "operation")} audited`;
  const verdict = auditVerdict(files);
  const summary = {
    clean: palette.good(`clean: ${looked}`),
    broken: palette.bad(
      `broken: ${counted(findings, "finding")} in ${counted(broken, "run")}; ${looked}`,
    ),
    invalid: palette.bad(`invalid: a file could not be read; ${looked}`),
    incomplete: palette.warn(`incomplete: ${looked}; something was left out`),
  }[verdict];
  return [...lines, summary].join("\n");
}

function fileLines(file: FileAudit, palette: Palette): string[] {
  const name = visible(file.file);
  if (file.result === null) return [`${palette.bad("invalid")}  ${name}`];
  const { findings, more, unchecked, skipped } = file.result;
  const lines = findings.flatMap((finding) => findingLines(name, finding, palette));
  if (more > 0) lines.push(`${name}: ${counted(more, "more finding")} in the same runs, not shown`);
  for (const { rules, why, runs } of unchecked)
    lines.push(palette.dim(`${name}: not checked in ${counted(runs, "run")}: ${rules} (${why})`));
  for (const { run, why } of skipped)
    lines.push(palette.warn(`${name}: run ${visible(run)} is not audited: ${why}`));
  return lines;
}

function findingLines(name: string, finding: PlacedFinding, palette: Palette): string[] {
  const { signature, n, line, run, message, bytes } = finding;
  const where = `${name}:${line}: run ${visible(run)}, operation ${n} (${signature.op})`;
  const range = bytes === undefined ? "" : ` [bytes ${bytes[0]} to ${bytes[1] - 1}]`;
  return [`${palette.bad(signature.check)}  ${where}`, `  ${visible(message)}${range}`];
}

/** The document of `audit`. @public */
export function auditJson(files: readonly FileAudit[]): unknown {
  return {
    command: "audit",
    verdict: auditVerdict(files),
    files: files.map(fileJson),
    operations: files.reduce((sum, { result }) => sum + (result?.operations ?? 0), 0),
  };
}

// The same keys whether the file could be read or not.
function fileJson(audited: FileAudit): object {
  const { file, result } = audited;
  const error = audited.result === null ? audited.error : audited.result.error;
  return {
    file,
    verdict: auditVerdict([audited]),
    runs: result?.runs ?? 0,
    operations: result?.operations ?? 0,
    findings: (result?.findings ?? []).map(placedJson),
    more: result?.more ?? 0,
    unchecked: result?.unchecked ?? [],
    skipped: result?.skipped ?? [],
    partial: result?.isPartial ?? false,
    error: errorOrNull(error),
  };
}

function placedJson(finding: PlacedFinding): object {
  const { run, line, signature } = finding;
  const { n, message, actors, bytes, band } = finding;
  const { check: rule, op, component } = signature;
  return {
    run,
    n,
    line,
    rule,
    op,
    component,
    message,
    band: band ?? null,
    bytes: bytes ?? null,
    actors: actors ?? [],
  };
}
