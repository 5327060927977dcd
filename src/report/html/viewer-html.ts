// The frame in which the page's script draws maps and curves: empty until it runs.
import type { ViewData } from "../../tools/view/view-data.js";
import { escaped } from "./escape.js";
import type { PackedMark } from "./shared/format.js";

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["← →", "one operation back, on"],
  ["Shift ← →", "a hundred"],
  ["PageUp PageDown", "a thousandth of the run"],
  ["Home End", "first, last"],
  ["[ ]", "found before, found next"],
  ["d", "the divergence, or the failure"],
  ["c", "the cause"],
  ["Space", "play"],
  ["+ − 0", "zoom the maps in, out, whole arena"],
  ["/", "search"],
  ["t", "theme"],
];

/** @internal */
export function viewerHtml({ base, candidate }: ViewData, marks: readonly PackedMark[]): string {
  const hasMaps = base.knownTo !== null || (candidate !== null && candidate.knownTo !== null);
  const jumps = marks.map(
    ({ kind, n, title, why }) =>
      `<button type="button" class="jump jump-${kind}" data-n="${n}" title="${escaped(why)}">${escaped(title)}</button>`,
  );
  const keys = KEYS.map(
    ([names, does]) => `<div><dt>${escaped(names)}</dt><dd>${escaped(does)}</dd></div>`,
  );
  const maps = hasMaps
    ? ""
    : `<p class="remark">There are no page maps: the implementation tells no states.</p>`;
  return `<section id="viewer" aria-label="Maps and curves">
<noscript><p class="remark">Maps and curves need scripting, which is off here. Everything above and below is whole without it.</p></noscript>
<p class="about" id="loading">Maps and curves appear here once their data is unpacked.</p>
<p class="remark" id="failed" hidden></p>
<div class="bar" id="bar" hidden>
<div class="jumps">${jumps.join("")}</div>
<div class="scrub"><button type="button" id="back" aria-label="one operation back">‹</button><input type="range" id="slider" min="0" max="0" value="0" step="1" aria-label="operation"><button type="button" id="on" aria-label="one operation on">›</button><button type="button" id="play" aria-pressed="false">Play</button></div>
<div class="now"><output id="now"></output>
<form id="search" role="search"><input type="search" id="query" placeholder="r12, full:38, 61234" aria-label="search by request, page or operation" autocomplete="off" spellcheck="false"><button type="submit">Find</button><button type="button" id="earlier" disabled aria-label="found before">↑</button><button type="button" id="later" disabled aria-label="found next">↓</button><span id="found" role="status"></span></form></div>
</div>
${maps}
<div id="curves" hidden></div>
<div id="maps" hidden><div class="zoom"><h2>Page maps</h2><span id="colour-by"></span><button type="button" id="zoom-in" aria-label="zoom in">+</button><button type="button" id="zoom-out" aria-label="zoom out">−</button><button type="button" id="zoom-all">Whole arena</button></div><div id="lanes"></div></div>
<div id="details" hidden></div>
<details class="keys" id="keys" hidden><summary>Keyboard</summary><dl>${keys.join("")}</dl></details>
</section>`;
}
