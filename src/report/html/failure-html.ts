// One failure in full, as plain HTML: what was asked, expected and answered, and the line that shows it again.
import type { Answer } from "../../base/operations.js";
import type { ViewData } from "../../tools/view/view-data.js";
import type { DiffLine } from "../answer-diff.js";
import type { ReportCase } from "../case-report.js";
import { answerText, effectsText } from "../values.js";
import { escaped } from "./escape.js";
import { diffHtml, escapedLines, reproduceHtml } from "./sections.js";

/** What is known of a failure beside its row. @public */
export interface CaseDetail {
  readonly story: string | null; // what the run is about
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly asked: string | null; // the operation at fault and its arguments
  readonly expected: string | null;
  readonly got: Answer | "nothing" | null; // `nothing`: it broke; null: not known
  readonly diff: readonly DiffLine[]; // `-` expected, `+` got
  readonly html: string; // more, as markup
  readonly n: number | null; // operation at fault
  readonly view: ViewData | null; // its page maps
  readonly noMaps: string | null; // why there are none, or how they are had, as a sentence
}

/** @internal */
export const NO_DETAIL: CaseDetail = {
  ...{ story: null, facts: [], asked: null, expected: null, got: null, diff: [], html: "" },
  ...{ n: null, view: null, noMaps: null },
};

/** @param index - under which the script finds it. @internal */
export function failureHtml(one: ReportCase, detail: CaseDetail | null, index: number): string {
  const { story, facts, asked, expected, got, diff, html, noMaps } = detail ?? NO_DETAIL;
  const where = one.place === "" ? "" : `<p class="about">${escaped(one.place)}</p>`;
  const file = one.file === null ? "" : `<p class="about">${escaped(one.file)}</p>`;
  const parts = [
    `<h3>${escaped(one.name)}</h3>${where}<p class="lead bad">${escaped(one.message)}</p>${file}`,
    story === null ? "" : `<p>${escaped(story)}</p>`,
    facts.length === 0 ? "" : factsHtml(facts),
    asked === null ? "" : `<p>Asked: <code>${escaped(asked)}</code></p>`,
    sidesHtml(expected, got),
    diff.length === 0
      ? ""
      : `<p class="about"><b class="base">−</b> expected, <b class="candidate">+</b> what came</p>${diffHtml(diff)}`,
    html,
    one.text.length === 0 || detail !== null
      ? ""
      : `<pre>${escapedLines(one.text.join("\n"))}</pre>`,
    one.reproduce === null
      ? ""
      : `<p class="about">To see it again:</p>${reproduceHtml(one.reproduce)}`,
    noMaps === null ? "" : `<p class="remark">${escaped(noMaps)}</p>`,
  ];
  return `<article class="failure" id="failure-${index}">${parts.join("")}</article>`;
}

function factsHtml(facts: readonly (readonly [string, string])[]): string {
  const rows = facts.map(
    ([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`,
  );
  return `<dl class="numbers">${rows.join("")}</dl>`;
}

function sidesHtml(expected: string | null, got: CaseDetail["got"]): string {
  const came =
    got === null
      ? ""
      : `<div><h3 class="candidate">what came</h3><p>${escaped(answerText(got === "nothing" ? null : got))}</p><p class="effects">Effects: ${escaped(effectsText(got === "nothing" ? null : got))}</p></div>`;
  const wanted =
    expected === null ? "" : `<div><h3 class="base">expected</h3><p>${escaped(expected)}</p></div>`;
  return came + wanted === "" ? "" : `<div class="answers">${wanted}${came}</div>`;
}
