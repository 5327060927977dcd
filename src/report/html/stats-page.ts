// The page of `stats`: one HTML file with counts and peaks as plain HTML and the curves drawn by its own script.
import type { TraceStats } from "../../tools/stats.js";
import { curveJson } from "../curve-json.js";
import { counted } from "../words.js";
import { escaped } from "./escape.js";
import { statsScript } from "./generated/page.js";
import { pageShell } from "./page-shell.js";
import type { StatsPageData } from "./shared/stats-data.js";
import { countsHtml, peaksHtml, statsLegendHtml } from "./stats-sections.js";

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["← →", "one point back, on"],
  ["Shift ← →", "ten"],
  ["Home End", "first, last"],
  ["p", "the most live bytes"],
  ["[ ]", "run before, next run"],
  ["+ − 0", "zoom in, out, whole run"],
  ["t", "theme"],
];

/** @public */
export interface StatsPage {
  readonly html: string;
  readonly curves: number;
  readonly bytes: number;
}

/** Makes the page of what was counted in one trace or several. @public */
export function statsPage(files: readonly TraceStats[]): StatsPage {
  const runs = files.flatMap(({ file, curves }) =>
    (curves?.curves ?? []).map((curve) => ({ file, curve: curveJson(curve) })),
  );
  const total = (of: (stats: TraceStats) => number): number =>
    files.reduce((sum, stats) => sum + of(stats), 0);
  const looked = `${counted(
    total(({ runs: count }) => count),
    "run",
  )} and ${counted(
    total(({ operations }) => operations),
    "operation",
  )}`;
  const names = files.map(({ file }) => `<b>${escaped(file)}</b>`).join(", ");
  const partial = files.some(({ truncated }) => truncated)
    ? `<p class="remark">A trace is truncated: only its complete part was counted.</p>`
    : "";
  const html = pageShell({
    command: "stats",
    title: files.map(({ file }) => file).join(", "),
    heading: `${looked} counted`,
    under: `${counted(files.length, "file")}: ${names}`,
    body: `${partial}${viewerHtml(runs.length > 0)}
${peaksHtml(files)}
${statsLegendHtml(files)}
${countsHtml(files)}
<script type="application/json" id="data">${dataText({ runs })}</script>`,
    script: statsScript,
  });
  return { html, curves: runs.length, bytes: Buffer.byteLength(html) };
}

/** As a script element may hold it: no tag can begin or end in it. */
function dataText(data: StatsPageData): string {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

function viewerHtml(hasCurves: boolean): string {
  if (!hasCurves) return `<p class="remark" id="no-curves">No run has a curve.</p>`;
  const keys = KEYS.map(
    ([names, does]) => `<div><dt>${escaped(names)}</dt><dd>${escaped(does)}</dd></div>`,
  );
  return `<section id="viewer" aria-label="Curves">
<noscript><p class="remark">Curves need scripting, which is off here. Everything below is whole without it.</p></noscript>
<p class="about" id="loading">Curves appear here.</p>
<p class="remark" id="failed" hidden></p>
<div class="bar" id="bar" hidden>
<div class="runs" id="runs"><button type="button" id="run-back" aria-label="run before">‹</button><select id="run" aria-label="run"></select><button type="button" id="run-on" aria-label="next run">›</button></div>
<div class="scrub"><button type="button" id="back" aria-label="one point back">‹</button><input type="range" id="slider" min="0" max="0" value="0" step="1" aria-label="operation"><button type="button" id="on" aria-label="one point on">›</button></div>
<div class="now"><output id="now"></output><span class="jumps" id="jumps"></span></div>
</div>
<div id="curves" hidden></div>
<details class="keys" id="keys" hidden><summary>Keyboard</summary><dl>${keys.join("")}</dl></details>
</section>`;
}
