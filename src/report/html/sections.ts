// The parts of the page that are plain HTML: summary, sides, legend, differences. Every text goes through `escaped`.
import type { CompareMode } from "../../tools/equality/modes.js";
import type { FieldDifference, RunComparison } from "../../tools/outcome.js";
import type { ViewData, ViewSide } from "../../tools/view/view-data.js";
import { answerDiff, type DiffLine, fieldDiff } from "../answer-diff.js";
import { answerText, effectsText, valueText } from "../values.js";
import { counted, grouped } from "../words.js";
import { escaped } from "./escape.js";
import type { PageReport } from "./page-report.js";
import { type Answered, answeredQuestions, modeSentence, modeWords } from "./plain-words.js";

const STATE_LINES_MAX = 400;
const STATE_LINES_OPEN = 16;

/** Verdict, cause and what still holds, in plain words. @internal */
export function summaryHtml(data: ViewData, report: PageReport): string {
  const { comparison, mode, reproduce } = report;
  if (comparison === null) return "";
  const cards = cardsHtml(data, comparison, mode, "holds");
  const again =
    reproduce === null
      ? ""
      : `<article class="card wide"><h3>How to see it again</h3>${reproduceHtml(reproduce, "reproduce")}</article>`;
  const note = comparison.note === null ? "" : `<p>${escaped(comparison.note)}</p>`;
  if (cards === "" && again === "" && note === "") return "";
  return `<section id="summary" aria-label="Summary"><div class="cards">${cards}${again}</div>${note}</section>`;
}

/** What a reader asks of a divergence, and what still holds. @param id - of the sentence about the latter */
function cardsHtml(
  elsewhere: Pick<ViewData, "placements" | "placementsLeft">,
  comparison: RunComparison,
  mode: CompareMode,
  id: string,
): string {
  const questions = answeredQuestions(elsewhere, comparison);
  const holds = modeSentence(mode, comparison);
  const rows = modeWords(mode, comparison).map(({ mode: name, means, holds: isHeld }) => {
    const word = isHeld === null ? "not looked at" : isHeld ? "holds" : "not shown to hold";
    const tone = isHeld === null ? "" : isHeld ? "good" : "bad";
    return `<tr><th scope="row">${escaped(name)}</th><td class="${tone}">${word}</td><td>${escaped(means)}</td></tr>`;
  });
  const modes =
    rows.length === 0
      ? ""
      : `<article class="card broad"><h3>What still holds?</h3><p class="lead"${id === "" ? "" : ` id="${id}"`}>${escaped(holds)}</p><table class="modes"><tbody>${rows.join("")}</tbody></table></article>`;
  return questions.map(card).join("") + modes;
}

/** A divergence as a saved report tells it, without maps. @internal */
export function savedHtml(comparison: RunComparison, mode: CompareMode): string {
  const cards = cardsHtml({ placements: [], placementsLeft: 0 }, comparison, mode, "");
  const note = comparison.note === null ? "" : `<p>${escaped(comparison.note)}</p>`;
  return `<div class="cards">${cards}</div>${note}<div class="told">${answersHtml(comparison)}</div>`;
}

/** The command, and below it what it depends on, which the shell takes for a remark. @internal */
export function reproduceHtml(reproduce: string, id = ""): string {
  const [command = "", remark] = reproduce.split(/ {3}# (.*)/s, 2);
  const about = remark === undefined ? "" : `<p class="about">${escaped(remark)}</p>`;
  const name = id === "" ? ` class="reproduce"` : ` id="${id}"`;
  return `<pre${name}>${escaped(command)}</pre>${about}`;
}

function card({ question, answer, points }: Answered): string {
  const list =
    points.length === 0
      ? ""
      : `<ul>${points.map((point) => `<li>${escaped(point)}</li>`).join("")}</ul>`;
  return `<article class="card"><h3>${escaped(question)}</h3><p class="lead">${escaped(answer)}</p>${list}</article>`;
}

/** What the two sides are, and what the page does not show. @internal */
export function sidesHtml(data: ViewData, notes: readonly string[]): string {
  const sides = [
    sideRow("base", data.candidate === null ? "run" : "base", data.base),
    ...(data.candidate === null ? [] : [sideRow("candidate", "candidate", data.candidate)]),
  ];
  const remarks = notes.map((note) => `<p class="remark">${escaped(note)}</p>`).join("");
  return `<section id="sides" aria-label="Sides"><dl class="sides">${sides.join("")}</dl>${remarks}</section>`;
}

function sideRow(tone: string, word: string, { name, maps, knownTo, note }: ViewSide): string {
  const known =
    knownTo === null
      ? "no page maps"
      : `page maps from ${maps}${note === null ? "" : `, up to operation ${grouped(knownTo)}`}`;
  const why = note === null ? "" : `: ${note}`;
  return `<div><dt class="${tone}">${word}</dt><dd><code>${escaped(name)}</code> <span>${escaped(known + why)}</span></dd></div>`;
}

const CLASS_WORDS: readonly (readonly [name: string, means: string])[] = [
  ["live", "in use, in the colour of its holder; the colour stays while the page moves"],
  ["fixed", "in use, and held in place by a load until its copies are submitted"],
  ["hole", "freed inside the band's span, ready to be taken again"],
  ["pending", "freed, and a hole once the forward that may use it is over"],
  ["vacated", "left by a move while somebody may still read it"],
  ["fenced", "outside every span, but somebody may still use its bytes"],
  ["free", "outside every span: room for any band"],
];

/** What colours, patterns and words mean. @internal */
export function legendHtml({ candidate }: ViewData): string {
  const classes = CLASS_WORDS.map(
    ([name, means]) =>
      `<li><span class="swatch swatch-${name}" aria-hidden="true"></span><b>${name}</b> ${means}</li>`,
  );
  if (candidate !== null) {
    classes.push(
      `<li><span class="swatch swatch-differs" aria-hidden="true"></span><b>differs</b> the two sides have something else in this page; a frame around both, and a mark between the rows</li>`,
    );
  }
  const words = [
    "<b>Arena</b>: one range of bytes that all bands share. <b>Band</b>: the pages of one kind of memory, on a grid of its own; its <b>span</b> is the part of the arena that it takes up.",
    "A page has a number (its place) and, while in use, an <b>id</b> that stays the same when it moves.",
    "<b>Capacity</b>: bytes outside every span. <b>Occupancy</b>: bytes of pages in use. Both by the arena's usable bytes. <b>Fragmentation</b>: the part of the spans that is not in use.",
    "<b>Cause</b>: the first operation after which the states of both sides differ. <b>Origin</b>: what gave the differing pages their places before.",
  ];
  return `<section id="legend" aria-label="Legend"><h2>How to read the maps</h2><ul class="legend">${classes.join("")}</ul>${words.map((word) => `<p>${word}</p>`).join("")}</section>`;
}

/** Both answers, their differences, the differing fields of the states, the report as text. @internal */
export function differencesHtml({ comparison, text }: PageReport): string {
  const told = comparison === null ? "" : answersHtml(comparison);
  const whole =
    text === ""
      ? ""
      : `<details><summary>The report as the terminal prints it</summary><pre>${escapedLines(text)}</pre></details>`;
  return told + whole === "" ? "" : `<section id="differences">${told}${whole}</section>`;
}

function answersHtml({ divergence, examination }: RunComparison): string {
  if (divergence === null) return "";
  const { n, op, args, base, candidate, fields } = divergence;
  const asked = `${op} ${valueText(args)}`;
  const states = examination?.states ?? null;
  return [
    `<h2>Both answers to operation ${grouped(n)}</h2><p>Asked: <code>${escaped(asked)}</code></p>`,
    `<div class="answers"><div><h3 class="base">base</h3><p>${escaped(answerText(base))}</p><p class="effects">Effects: ${escaped(effectsText(base))}</p></div>`,
    `<div><h3 class="candidate">candidate</h3><p>${escaped(answerText(candidate))}</p><p class="effects">Effects: ${escaped(effectsText(candidate))}</p></div></div>`,
    diffHtml(answerDiff(base, candidate, true)) || diffHtml(fieldDiff(fields, true)),
    states !== null && states.fields.length > 0 ? statesHtml(states.fields) : "",
  ].join("");
}

function statesHtml(fields: readonly FieldDifference[]): string {
  const lines = fieldDiff(fields, true);
  const shown = lines.slice(0, STATE_LINES_MAX);
  const isLong = shown.length > STATE_LINES_OPEN;
  const more =
    lines.length > shown.length ? `<p>… and ${lines.length - shown.length} lines more.</p>` : "";
  const title = `<h2>Full states right after it</h2>`;
  const head = `${counted(fields.length, "field")} ${fields.length === 1 ? "differs" : "differ"}`;
  const body = `${diffHtml(shown)}${more}`;
  if (!isLong) return `${title}<p>${head}.</p>${body}`;
  return `${title}<details><summary>${head}</summary>${body}</details>`;
}

/** Lines of a diff. @internal */
export function diffHtml(lines: readonly DiffLine[]): string {
  if (lines.length === 0) return "";
  const tone = { "-": "base", "+": "candidate", " ": "same" };
  const rows = lines.map(
    ({ sign, text }) => `<div class="${tone[sign]}"><span>${sign}</span>${escaped(text)}</div>`,
  );
  return `<div class="diff">${rows.join("")}</div>`;
}

/** A text of several lines; each is escaped by itself, so that the line ends stay. @internal */
export function escapedLines(text: string): string {
  return text.split("\n").map(escaped).join("\n");
}
