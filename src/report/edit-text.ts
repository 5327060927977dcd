// What `edit` prints.
import type { EditResult } from "../tools/edit/edit.js";
import type { Palette } from "./palette.js";
import { counted, grouped, visible } from "./words.js";

/** @public */
export type EditVerdict = "edited" | "incomplete" | "failed";

/** @public */
export function editVerdict(result: EditResult): EditVerdict {
  if (result.broken !== null) return "failed";
  return result.isPartial || result.lostStates > 0 ? "incomplete" : "edited";
}

/** The last line is the summary. @public */
export function editText(
  result: EditResult,
  names: { readonly out: string; readonly implementation: string },
  palette: Palette,
): string {
  const { broken, runs, operations } = result;
  const asked = visible(names.implementation);
  if (broken !== null) {
    const where = `operation ${grouped(broken.n)} (${visible(broken.op)}) of run ${visible(broken.run)}`;
    return palette.bad(
      `failed: ${asked} broke at ${where}: ${visible(broken.failure.message)}; nothing was written`,
    );
  }
  const out = names.out === "-" ? "standard output" : visible(names.out);
  const verdict = editVerdict(result);
  const summary = `${verdict === "edited" ? "edited" : "incomplete:"} ${out}: ${counted(runs, "run")}, ${counted(operations, "operation")}`;
  return [
    ...detailLines(result, asked),
    verdict === "edited" ? palette.good(summary) : palette.warn(summary),
  ].join("\n");
}

function detailLines(result: EditResult, asked: string): string[] {
  const { leftOut, answered, dropped, changed, stayed, groundless, renamed, lostStates } = result;
  const said = (count: number, text: string): string[] => (count === 0 ? [] : [text]);
  return [
    ...said(leftOut, `${counted(leftOut, "run")} left out`),
    ...said(renamed, `${counted(renamed, "run")} renamed`),
    ...said(dropped, `${counted(dropped, "operation")} dropped`),
    ...said(changed, `${counted(changed, "operation")} changed`),
    ...said(stayed, `${counted(stayed, "operation")} stayed: what is open without them needs them`),
    ...said(groundless, `${counted(groundless, "operation")} left out: the edit took their ground`),
    ...said(answered, `${counted(answered, "run")} answered anew by ${asked}`),
    ...said(lostStates, `${counted(lostStates, "full state")} lost: ${asked} gives none`),
    ...(result.isPartial ? ["unknown keys were left out"] : []),
  ];
}

/** The document of `edit`. @public */
export function editJson(result: EditResult, out: string): unknown {
  const { runs, operations, dropped, changed, stayed, groundless, answered, renamed } = result;
  return {
    command: "edit",
    verdict: editVerdict(result),
    out: result.broken === null ? out : null,
    ...{ runs, operations, dropped, changed, stayed, groundless, answered, renamed },
    left_out: result.leftOut,
    lost_states: result.lostStates,
    partial: result.isPartial,
    broken: result.broken,
  };
}
