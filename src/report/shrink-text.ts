// The text of `shrink`: the failure, how small it got, where it is, what stands beside it.
import type { Signature } from "../tools/findings.js";
import type { Looked } from "../tools/shrink/case.js";
import type { ShrinkReport, WrittenCase } from "../tools/shrink/shrink-to-file.js";
import type { ShrinkResult } from "../tools/shrink/shrink.js";
import type { Palette } from "./palette.js";
import { counted, grouped, shortened, visible } from "./words.js";

const MESSAGE_MAX = 400;

/** @public */
export function shrinkText(report: ShrinkReport, palette: Palette, command: string | null): string {
  const { result, written } = report;
  if (result.kind === "not repeated") return notRepeatedText(report, palette);
  const { best, stopped, from } = result;
  const { finding } = best;
  const lines = [
    `${visible(report.name)}: ${signatureText(finding.signature)}`,
    `  ${shortened(visible(finding.message), MESSAGE_MAX)}`,
    ...best.case.ops.map(
      ({ op, args }, n) =>
        `  ${String(n).padStart(3)}  ${op}  ${palette.dim(shortened(visible(JSON.stringify(args)), MESSAGE_MAX))}`,
    ),
  ];
  if (result.isResumed) lines.push("went on from the case that an earlier shrink had left");
  if (report.note !== null) lines.push(palette.warn(`note: ${visible(report.note)}`));
  if (report.isShownByRun === false) {
    lines.push(palette.warn("run does not show it: no expectation tells the two answers apart"));
  }
  for (const other of report.others) lines.push(`also found: ${otherText(other)}`);
  if (command !== null) lines.push(`replay it with: ${visible(command)}`);
  const where =
    written === null
      ? "; the folder keeps smaller cases of this failure"
      : ` in ${visible(written.file)}`;
  const size = `${grouped(from)} operations came down to ${grouped(best.case.ops.length)}`;
  const end =
    report.isAlone === false
      ? palette.bad(`not repeated: ${size}${where}, which does not fail in the same way alone`)
      : stopped === null
        ? palette.good(`shrunk: ${size}${where}, nothing can go`)
        : palette.warn(
            `stopped (${stopped}): ${size}${where}; the same command goes on from there`,
          );
  const tried = counted(result.tried, "candidate");
  return [...lines, `${end}; ${tried} tried, ${lookedText(report.looked)}`].join("\n");
}

function notRepeatedText({ name, result, looked }: ShrinkReport, palette: Palette): string {
  const shown = `${visible(name)}: ${notRepeated(result)}`;
  return palette.bad(`not repeated: ${shown}; ${lookedText(looked)}`);
}

/** `12 runs and 340 operations judged`. @internal */
export function lookedText({ runs, operations }: Looked): string {
  return `${counted(runs, "run")} and ${counted(operations, "operation")} judged`;
}

function notRepeated(result: ShrinkResult): string {
  if (result.kind !== "not repeated") return "";
  const wanted = result.wanted === null ? "" : `, expected ${signatureText(result.wanted)}`;
  const shown = result.judgements.map((judgement) => {
    if (judgement.kind === "fails") return signatureText(judgement.finding.signature);
    if (judgement.kind === "passes") return "no failure";
    return `a case that means nothing at operation ${String(judgement.n)}`;
  });
  return `${counted(shown.length, "run")} showed ${shown.join(", then ")}${wanted}`;
}

/** `result of tokens.extend in full`. */
function signatureText({ check, op, component }: Signature): string {
  return visible(`${check} of ${op}${component === null ? "" : ` in ${component}`}`);
}

function otherText({ file, operations, finding }: WrittenCase): string {
  return `${signatureText(finding.signature)}, ${counted(operations, "operation")} in ${visible(file)}`;
}
