// What the second look at a divergent run found, as lines below the divergence.
import type { CompareMode } from "../tools/equality/modes.js";
import type { Divergence, Examination, Origin } from "../tools/outcome.js";
import { fieldDiff } from "./answer-diff.js";
import type { TextOptions } from "./text-options.js";
import { counted, grouped, visible } from "./words.js";

const HOLDS: Readonly<Record<CompareMode, string>> = {
  exact: "everything agrees",
  renamed: "the same up to a renaming of ids",
  "placement-free": "differs in placement, agrees in every answer",
  decisions: "agrees in every decision",
  quiescent: "the same states whenever nothing is under way",
};
const STATE_LINES_MAX = 24;

/** @internal */
export function examinationText(
  { n }: Divergence,
  examination: Examination,
  options: TextOptions,
): string[] {
  // a candidate that broke answers nothing at the divergence or behind it
  if (examination.upTo < n) return ["  afterwards     the candidate gives no more answers"];
  return [
    ...holdsLines(examination, options),
    recoveryLine(n, examination),
    ...examination.origins.map((origin, index) => originLine(origin, index)),
    ...stateLines(examination, options),
  ];
}

function holdsLines({ holds }: Examination, { palette }: TextOptions): string[] {
  if (holds.length === 0) return ["  weaker modes   none holds"];
  return holds.map((mode, index) => {
    const label = index === 0 ? "  weaker modes " : "               ";
    return `${label}  ${palette.good(`${mode} holds`)}: ${HOLDS[mode]}`;
  });
}

function recoveryLine(n: number, { upTo, differing, recovers, isWhole }: Examination): string {
  const behind = upTo - n;
  const looked = isWhole
    ? `to the run's end, ${counted(behind, "operation")} behind it`
    : `${counted(behind, "operation")} behind it`;
  const again =
    recovers === null
      ? "the sides do not agree again"
      : `the sides agree again from operation ${grouped(recovers)} on`;
  return `  afterwards     ${again} (looked at ${looked}; ${counted(differing, "answer")} of them ${differing === 1 ? "differs" : "differ"})`;
}

function originLine({ side, space, id, n, op, use }: Origin, index: number): string {
  const label = index === 0 ? "  origin       " : "               ";
  return `${label}  ${visible(space)} ${id} (${side}) was ${use} by operation ${grouped(n)} (${visible(op)})`;
}

function stateLines({ states }: Examination, { palette, verbose }: TextOptions): string[] {
  if (states === null) return [];
  const { base, fields } = states;
  const source =
    base === "trace" ? "the trace" : `${visible(base)}, which answers as the trace does`;
  if (fields.length === 0) return [`  full states    the same right after it (base: ${source})`];
  const paint = { "-": palette.base, "+": palette.candidate, " ": palette.dim };
  const lines = fieldDiff(fields, verbose);
  const shown = verbose ? lines : lines.slice(0, STATE_LINES_MAX);
  const more = lines.length - shown.length;
  return [
    `  full states    ${counted(fields.length, "field")} ${fields.length === 1 ? "differs" : "differ"} right after it (base: ${source})`,
    ...shown.map(({ sign, text }) => paint[sign](`    ${sign} ${text}`)),
    ...(more > 0 ? [`    … and ${counted(more, "line")} more (--verbose)`] : []),
  ];
}
