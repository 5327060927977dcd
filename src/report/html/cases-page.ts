// The page of many runs: verdict and numbers, a table of all cases with failures first, then each failure in full, the first of
// them with page maps and curves. Without scripting every failure stands one below the other, without maps.
import type { ViewData } from "../../tools/view/view-data.js";
import type { CaseReport, CaseStatus, ReportCase } from "../case-report.js";
import { counted, grouped } from "../words.js";
import { escaped } from "./escape.js";
import { type CaseDetail, failureHtml } from "./failure-html.js";
import { script } from "./generated/page.js";
import { markFailure } from "./marks.js";
import { pack } from "./pack.js";
import type { HtmlPage } from "./page.js";
import { pageShell } from "./page-shell.js";
import { sampleNotes } from "./sample-notes.js";
import { escapedLines, legendHtml, sidesHtml } from "./sections.js";
import { viewerHtml } from "./viewer-html.js";

/** Failures of which a page holds the maps. @public */
export const MAPS_MAX = 10;
const FAILURES_MAX = 300;
const ROWS_MAX = 20_000;
/** What base64 text all maps of a page may hold together, where leaving out details can do it. */
const BASE64_MAX = 4_000_000;

/** @public */
export interface CasesPage {
  readonly report: CaseReport;
  readonly heading: string;
  readonly numbers: readonly (readonly [name: string, value: string])[];
  readonly notes: readonly string[]; // remarks on the whole, one sentence each
  readonly details: ReadonlyMap<ReportCase, CaseDetail>; // of cases that did not pass
  readonly text: string; // the report as the terminal shows it
}

const ORDER: readonly CaseStatus[] = ["failed", "error", "skipped", "passed"];

/** Makes the page. @public */
export function casesPage({ report, details, ...page }: CasesPage): HtmlPage {
  const all = report.suites.flatMap(({ cases }) => cases);
  const sorted = ORDER.flatMap((status) => all.filter((one) => one.status === status));
  const failures = sorted.filter(({ status }) => status === "failed" || status === "error");
  const told = failures.slice(0, FAILURES_MAX);
  const views = told.map((one) => details.get(one)?.view ?? null);
  const shown = views.filter((view) => view !== null);
  const base64Max = Math.floor(BASE64_MAX / Math.max(1, shown.length));
  const notes = [...page.notes, ...leftOut(sorted.length, failures.length, shown.length)];
  const html = pageShell({
    command: report.command,
    title: report.verdict,
    heading: page.heading,
    under: report.summary.map(escaped).join("<br>"),
    body: [
      numbersHtml(page.numbers, notes),
      tableHtml(sorted.slice(0, ROWS_MAX), told),
      told.length === 0 ? "" : failuresHtml(told, details),
      ...views.map((view, index) =>
        view === null ? "" : viewHtml(view, index, told, details, base64Max),
      ),
      shown[0] === undefined ? "" : legendHtml(shown[0]),
      textHtml(page.text),
    ].join("\n"),
    script,
  });
  const frames = shown.reduce((sum, view) => sum + view.frames.length, 0);
  return { html, frames, bytes: Buffer.byteLength(html) };
}

function leftOut(cases: number, failures: number, shown: number): string[] {
  const notes: string[] = [];
  if (shown > 0 && shown < failures)
    notes.push(
      `Page maps and curves are here for ${grouped(shown)} of ${counted(failures, "failure")}; the others have the line that shows them again.`,
    );
  if (failures > FAILURES_MAX)
    notes.push(
      `The first ${grouped(FAILURES_MAX)} failures are told in full; those behind them have their line in the table.`,
    );
  if (cases > ROWS_MAX)
    notes.push(`The table holds ${grouped(ROWS_MAX)} of ${grouped(cases)} rows, failures first.`);
  return notes;
}

function numbersHtml(
  numbers: readonly (readonly [name: string, value: string])[],
  notes: readonly string[],
): string {
  const rows = numbers.map(
    ([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`,
  );
  const remarks = notes.map((note) => `<p class="remark">${escaped(note)}</p>`);
  return `<section id="totals" aria-label="Totals"><dl class="numbers">${rows.join("")}</dl>${remarks.join("")}</section>`;
}

const COLUMNS = ["verdict", "run", "where", "message", "operations"] as const;

function tableHtml(cases: readonly ReportCase[], told: readonly ReportCase[]): string {
  const places = new Map(told.map((one, index) => [one, index]));
  const rows = cases.map((one) => rowHtml(one, places.get(one) ?? null));
  const head = COLUMNS.map((name) => `<th scope="col">${name}</th>`).join("");
  return `<section id="cases" aria-label="Runs"><div class="row cases-head"><h2>Runs</h2><input type="search" id="filter" placeholder="name, verdict, message" aria-label="show only rows with these words" autocomplete="off" spellcheck="false" hidden><span id="filtered" role="status"></span></div>
<div class="cases-body"><table><thead><tr>${head}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}

const TONES: Readonly<Record<CaseStatus, string>> = {
  passed: "good",
  failed: "bad",
  error: "bad",
  skipped: "warn",
};

/** @param place - of the failure in full, null: there is none */
function rowHtml(one: ReportCase, place: number | null): string {
  const { name, status, kind, message, place: where, operations, file, reproduce } = one;
  const verdict = kind === status ? status : `${status} (${kind})`;
  const title =
    place === null
      ? escaped(name)
      : `<button type="button" class="choose" data-case="${place}">${escaped(name)}</button>`;
  const source = file === null ? "" : `<div class="about">${escaped(file)}</div>`;
  // one that is told in full has its line there
  const again =
    place !== null || reproduce === null || status === "passed" || status === "skipped"
      ? ""
      : `<div><code>${escaped(reproduce)}</code></div>`;
  const count = operations === 0 ? "" : grouped(operations);
  return `<tr class="case-${status}"><td class="${TONES[status]}">${escaped(verdict)}</td><td>${title}${source}</td><td>${escaped(where)}</td><td>${escaped(message)}${again}</td><td class="number">${count}</td></tr>`;
}

function failuresHtml(
  told: readonly ReportCase[],
  details: ReadonlyMap<ReportCase, CaseDetail>,
): string {
  const articles = told.map((one, index) => failureHtml(one, details.get(one) ?? null, index));
  const steps =
    told.length < 2
      ? ""
      : `<span class="steps" id="steps" hidden><button type="button" id="case-back" aria-label="failure before">‹</button><output id="case-now"></output><button type="button" id="case-on" aria-label="next failure">›</button></span>`;
  return `<section id="failures" aria-label="Failures"><div class="row"><h2>${told.length === 1 ? "What went wrong" : "What went wrong, one by one"}</h2>${steps}</div>
${articles.join("\n")}
<noscript><p class="remark">Page maps and curves need scripting, which is off here. Everything else is whole without it.</p></noscript>
</section>
<div id="stage"></div>`;
}

/** What the script puts on the stage once the failure is chosen. */
function viewHtml(
  view: ViewData,
  index: number,
  told: readonly ReportCase[],
  details: ReadonlyMap<ReportCase, CaseDetail>,
  base64Max: number,
): string {
  const one = told[index];
  const n = (one === undefined ? null : details.get(one)?.n) ?? 0;
  const marks = [markFailure(n)];
  const packed = pack(view, marks, base64Max);
  return `<template id="view-${index}">${sidesHtml(view, sampleNotes(view, packed))}
${viewerHtml(view, marks)}</template>
<script type="application/octet-stream" id="data-${index}">${packed.base64}</script>`;
}

function textHtml(text: string): string {
  if (text === "") return "";
  return `<section id="differences"><details><summary>The report as the terminal prints it</summary><pre>${escapedLines(text)}</pre></details></section>`;
}
