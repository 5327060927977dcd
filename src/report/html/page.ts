// The report page: one HTML file with everything in it. What a reader needs first (verdict, cause, what still holds) is plain
// HTML; the maps and curves are drawn by the page's own script from the packed data. Nothing is ever requested.
import type { ViewData } from "../../tools/view/view-data.js";
import { grouped } from "../words.js";
import { escaped } from "./escape.js";
import { script } from "./generated/page.js";
import { markAt, marksOf } from "./marks.js";
import { pack, type Packed } from "./pack.js";
import type { PageReport } from "./page-report.js";
import { pageShell } from "./page-shell.js";
import { headline } from "./plain-words.js";
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

function sampleNotes(data: ViewData, { details }: Packed): string[] {
  const notes: string[] = [];
  const { frames, stride, near, operations } = data;
  if (stride > 1) {
    notes.push(
      `The run is too long to show every operation: ${grouped(frames.length)} of ${grouped(operations)} are shown, all within ${grouped(near)} operations of what is marked, and every ${grouped(stride)}th elsewhere.`,
    );
  }
  const [from, to] = details;
  if (to - from < frames.length) {
    const first = frames[from]?.n ?? 0;
    const last = frames[to - 1]?.n ?? 0;
    notes.push(
      `Arguments and answers are in the page for operations ${grouped(first)} to ${grouped(last)} only, so that it stays small. Maps and curves show all.`,
    );
  }
  return notes;
}
