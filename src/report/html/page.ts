// The report page: one HTML file with everything in it. What a reader needs first (verdict, cause, what still holds) is plain
// HTML; the maps and curves are drawn by the page's own script from the packed data. Nothing is ever requested.
import type { ViewData } from "../../tools/view/view-data.js";
import { grouped } from "../words.js";
import { escaped } from "./escape.js";
import { script } from "./generated/page.js";
import { markAt, marksOf } from "./marks.js";
import { pack } from "./pack.js";
import type { PageReport } from "./page-report.js";
import { pageShell } from "./page-shell.js";
import { headline } from "./plain-words.js";
import { sampleNotes } from "./sample-notes.js";
import { differencesHtml, legendHtml, sidesHtml, summaryHtml } from "./sections.js";
import { viewerHtml } from "./viewer-html.js";

/** @public */
export interface HtmlPage {
  readonly html: string;
  readonly frames: number;
  readonly bytes: number;
}

/** Makes the page. @param base64Max - see `pack` @public */
export function htmlPage(data: ViewData, report: PageReport, base64Max?: number): HtmlPage {
  const marks = report.at === undefined ? marksOf(report.comparison) : [markAt(report.at)];
  const packed = pack(data, marks, base64Max);
  const html = pageShell({
    command: report.command,
    title: data.run,
    heading: headline(data, report.comparison),
    under: `Run <b>${escaped(data.run)}</b>, ${grouped(data.operations)} operations`,
    body: `${summaryHtml(data, report)}
${sidesHtml(data, [...report.notes, ...sampleNotes(data, packed)])}
${viewerHtml(data, marks)}
${legendHtml(data)}
${differencesHtml(report)}
<script type="application/octet-stream" id="data">${packed.base64}</script>`,
    script,
  });
  return { html, frames: data.frames.length, bytes: Buffer.byteLength(html) };
}
