// A comparison in plain words, for a reader who has never seen the tool. Text, not markup.
import type { Alignment } from "../../tools/align/alignment.js";
import { type CompareMode, weakerModes } from "../../tools/equality/modes.js";
import type { Divergence, Examination, RunComparison } from "../../tools/outcome.js";
import type { Placement } from "../../tools/view/view-data.js";
import type { ViewData } from "../../tools/view/view-data.js";
import { alignmentPoints } from "../alignment-text.js";
import { counted, grouped, listed, visible } from "../words.js";

/** One question a reader has, and the answer. @internal */
export interface Answered {
  readonly question: string;
  readonly answer: string;
  readonly points: readonly string[];
}

/** What holds of a weaker mode. @internal */
export interface ModeWord {
  readonly mode: CompareMode;
  readonly means: string;
  readonly holds: boolean | null; // null: not looked at
}

const PLACEMENTS_SHOWN = 8;

const MEANS: Readonly<Record<CompareMode, string>> = {
  exact: "results, refusals, effects in order and state digests are the same",
  renamed:
    "the same once the numbers of pages, ids and rows of one side are translated, one to one, into those of the other",
  "placement-free": "the same grants, refusals and numbers of pages, wherever the pages lie",
  decisions: "the same decisions: refusals, answers of questions, admissions",
  quiescent: "the same state whenever nothing is under way",
};

/** The first sentence of the page. @internal */
export function headline(data: ViewData, run: RunComparison | null): string {
  if (data.candidate === null || run === null)
    return `Where every page lay, over ${counted(data.operations, "operation")}.`;
  const { divergence, unstable, verdict } = run;
  if (unstable !== null)
    return `The candidate does not do the same twice: operation ${grouped(unstable.n)} (${visible(unstable.op)}).`;
  if (divergence !== null) return divergenceHeadline(divergence);
  const all = `all ${counted(run.agreed, "operation")}`;
  if (verdict === "equal") return `Both sides answer ${all} alike.`;
  return `Both sides agree in ${all} that were compared (${verdict}).`;
}

function divergenceHeadline({ n, op, place }: Divergence): string {
  if (place === "before") return "The candidate refuses the run before its first operation.";
  if (place === "after")
    return `All answers up to operation ${grouped(n)} (${visible(op)}) are alike; what differs shows after it.`;
  return `The two sides part at operation ${grouped(n)} (${visible(op)}).`;
}

/** What a reader wants to know of a divergence, in order. @internal */
export function answeredQuestions(
  data: Pick<ViewData, "placements" | "placementsLeft">,
  run: RunComparison,
): readonly Answered[] {
  const { divergence, examination } = run;
  if (divergence === null) return [];
  return [
    whatDiffers(run, divergence),
    ...elsewhere(data, divergence),
    why(divergence, examination),
    ...(examination === null ? aligned(run.alignment) : afterwards(divergence.n, examination)),
  ];
}

function whatDiffers(run: RunComparison, divergence: Divergence): Answered {
  const points = [`${counted(run.agreed, "operation")} before it were answered alike.`];
  if (divergence.failure !== null) points.push(visible(divergence.failure.message));
  const fields = [...new Set(divergence.fields.map(({ path }) => visible(path)))];
  if (fields.length > 0) {
    const more = fields.length > 6 ? `, and ${fields.length - 6} more` : "";
    points.push(`Fields that differ: ${fields.slice(0, 6).join(", ")}${more}.`);
  }
  const components = divergence.components.map(({ component }) => visible(component));
  if (components.length > 0)
    points.push(`Parts of the state that differ right after it: ${listed(components)}.`);
  return { question: "What differs first?", answer: kindSentence(divergence), points };
}

function kindSentence({ kind, n, op, base, candidate }: Divergence): string {
  const where = `operation ${grouped(n)} (${visible(op)})`;
  switch (kind) {
    case "result":
      return `Both sides grant ${where}, but with another result.`;
    case "refusal": {
      const word = (err: { readonly code: string } | undefined): string =>
        err === undefined ? "grants it" : `answers ${visible(err.code)}`;
      return `At ${where} the base ${word(base?.err)}, the candidate ${word(candidate?.err)}.`;
    }
    case "effect":
      return `Both sides answer ${where} alike, but ask the device for other work.`;
    case "state":
      return `Both sides answer ${where} alike, but leave other states behind.`;
    case "crash":
      return `The candidate breaks at ${where}.`;
    case "hang":
      return `The candidate gives no answer to ${where} in time.`;
    case "protocol":
      return `The candidate breaks the protocol at ${where}.`;
    case "invariant":
      return `The candidate breaks one of its invariants at ${where}.`;
    case "missing operation":
      return `The candidate lacks ${where}.`;
    case "extra operation":
      return `Only the candidate has ${where}.`;
  }
}

function elsewhere(
  { placements, placementsLeft }: Pick<ViewData, "placements" | "placementsLeft">,
  { place }: Divergence,
): Answered[] {
  if (place !== "at" || placements.length === 0) return [];
  const shown = placements.slice(0, PLACEMENTS_SHOWN).map(placementSentence);
  const more = placements.length - shown.length + placementsLeft;
  if (more > 0) shown.push(`… and ${counted(more, "page")} more.`);
  const count = placements.length + placementsLeft;
  const answer = `${counted(count, "page")} ${count === 1 ? "lies" : "lie"} at another place on the candidate's side right after it.`;
  return [{ question: "Which page lies elsewhere?", answer, points: shown }];
}

/** One page that the sides have at different places, as a sentence. @internal */
export function placementSentence(placement: Placement): string {
  const { band, virtual, holder, before, base, candidate } = placement;
  const whose = holder === "" ? "" : ` of ${visible(holder)}`;
  const where = (page: number | null): string =>
    page === null ? "nowhere" : `on page ${grouped(page)} (${byteRange(placement, page)})`;
  const old = before === null ? "" : ` Before, it lay ${where(before)}.`;
  return `Band ${visible(band)}, page with id ${grouped(virtual)}${whose}: base ${where(base)}, candidate ${where(candidate)}.${old}`;
}

function byteRange({ pageBytes }: Placement, page: number): string {
  return `bytes ${grouped(page * pageBytes)}–${grouped((page + 1) * pageBytes - 1)}`;
}

function why(divergence: Divergence, examination: Examination | null): Answered {
  const points = (examination?.origins ?? []).map(
    ({ side, space, id, n: at, op, use }) =>
      `${visible(space)} ${grouped(id)} (the ${side}'s choice) was ${use} by operation ${grouped(at)} (${visible(op)}), on both sides.`,
  );
  return { question: "What is the cause?", answer: causeSentence(divergence), points };
}

function causeSentence({ cause, n, fields: { length: fields }, agreeing }: Divergence): string {
  if (cause === null && agreeing.length > 0)
    return `Operation ${grouped(n)} itself. The states of both sides stay the same; only the answer differs.`;
  if (cause === null) return "Without digests of the states no earlier cause can be told.";
  if (cause.n === n) {
    const before = "Before it, every part of both states was the same";
    const chose = fields > 0 ? "the two sides decided differently here" : "they part here";
    return `Operation ${grouped(n)} itself. ${before}; ${chose}.`;
  }
  return `Operation ${grouped(cause.n)} (${visible(cause.op)}): since then the states of the sides differ, although the answers were alike up to operation ${grouped(n)}.`;
}

/** Of two recorded runs, which are not looked at once more. */
function aligned(alignment: Alignment | null): Answered[] {
  if (alignment === null) return [];
  const { head, points } = alignmentPoints(alignment);
  return [{ question: "And afterwards?", answer: head, points }];
}

function afterwards(n: number, examination: Examination): Answered[] {
  const { recovers, differing, upTo, isWhole } = examination;
  if (upTo < n) {
    const answer = "The candidate gives no more answers.";
    return [{ question: "And afterwards?", answer, points: [] }];
  }
  const looked = isWhole
    ? "to the end of the run"
    : `up to operation ${grouped(upTo)}, where the look ended`;
  const answer =
    recovers === null
      ? `The sides do not agree again (looked at ${looked}).`
      : `From operation ${grouped(recovers)} on both sides answer alike again, state digests included where the run has them (looked at ${looked}).`;
  const points = [`Answers that differ: ${grouped(differing)}.`];
  return [{ question: "And afterwards?", answer, points }];
}

/** The weaker modes and whether each holds. @internal */
export function modeWords(mode: CompareMode, run: RunComparison): readonly ModeWord[] {
  const { divergence, examination } = run;
  if (divergence === null) return [];
  return weakerModes(mode).map((weaker) => ({
    mode: weaker,
    means: MEANS[weaker],
    holds: wasLookedAt(run) ? (examination?.holds.includes(weaker) ?? null) : null,
  }));
}

// Of a candidate that broke there is no answer at the divergence that a mode could judge.
function wasLookedAt({ divergence, examination }: RunComparison): boolean {
  return examination !== null && divergence !== null && examination.upTo >= divergence.n;
}

/** The weaker modes in one sentence. @internal */
export function modeSentence(mode: CompareMode, run: RunComparison): string {
  const words = modeWords(mode, run);
  const held = words.filter(({ holds }) => holds === true);
  const [strictest] = held; // they stand in order
  if (words.length === 0) return "";
  if (!wasLookedAt(run)) return "It was not looked at which weaker kinds of equality hold.";
  if (strictest === undefined) return "No weaker kind of equality holds.";
  if (held.length === 1)
    return `One weaker kind of equality holds: “${strictest.mode}” (${strictest.means}).`;
  return `${counted(held.length, "weaker kind")} of equality hold; the strictest is “${strictest.mode}” (${strictest.means}).`;
}
