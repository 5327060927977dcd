// The first divergence of a run in words: what was asked, what each side answered, what differs, what still agrees.
import type { AnsweredOperation, Divergence, RunComparison } from "../tools/outcome.js";
import { alignmentText } from "./alignment-text.js";
import { agreeingFields, answerDiff, contrastedTexts, fieldDiff } from "./answer-diff.js";
import type { DiffLine } from "./answer-diff.js";
import { examinationText } from "./examination-text.js";
import type { Palette } from "./palette.js";
import type { TextOptions } from "./text-options.js";
import { answerText, effectsText, valueText } from "./values.js";
import { counted, grouped, listed, shortened, visible } from "./words.js";

const ARGS_MAX = 300;
const ANSWER_MAX = 300;
const HISTORY_MAX = 150;
const AGREEING_MAX = 12;
const NAMES_MAX = 4;

/** One sentence: what kind of difference it is. @public */
export function divergenceSentence(divergence: Divergence): string {
  const { kind, base, candidate, components, failure } = divergence;
  switch (kind) {
    case "result":
      return `both sides grant it, but the answers differ in ${differingFields(divergence)}`;
    case "refusal":
      if (base?.err === undefined) return "the base grants it, the candidate refuses it";
      if (candidate?.err === undefined) return "the base refuses it, the candidate grants it";
      return "both sides refuse it, but not for the same reason";
    case "effect":
      return "the same answer, but the device is asked to do different things";
    case "state":
      return components.length === 0
        ? "the same answers, but the states differ afterwards"
        : `the same answer and effects, but afterwards the state of ${listed(
            components.map(({ component }) => visible(component)),
          )} differs`;
    case "crash":
      return `the candidate crashed: ${visible(failure?.message ?? "no reason known")}`;
    case "hang":
      return `the candidate did not answer: ${visible(failure?.message ?? "time is over")}`;
    case "protocol":
      return `the candidate broke the protocol: ${visible(failure?.message ?? "no reason known")}`;
    case "invariant":
      return `the candidate broke an invariant: ${visible(failure?.message ?? "no reason known")}`;
    case "missing operation":
      return "the candidate's trace lacks this operation";
    case "extra operation":
      return "the candidate's trace has an operation that the base lacks";
  }
}

/** `at operation 41 (tokens.decode)`, `after operation 41 (tokens.decode)`. @public */
export function placeText({ n, op, place, failure }: Divergence): string {
  const where = `operation ${grouped(n)}`;
  if (place === "before") return `before ${where}`;
  if (place === "at" || failure === null) return `${place} ${where} (${visible(op)})`;
  return `after the last operation, ${grouped(n)} (${visible(op)})`;
}

// The last words of the paths that differ: `full`, `virtual and full`.
function differingFields({ fields }: Divergence): string {
  const names = new Set<string>();
  for (const { path } of fields) {
    if (path.startsWith("/ok/")) names.add(visible(path.slice(path.lastIndexOf("/") + 1)));
  }
  const shown = [...names].slice(0, NAMES_MAX);
  const more = names.size - shown.length;
  return more > 0 ? `${shown.join(", ")} and ${counted(more, "more field")}` : listed(shown);
}

/** The whole report of one run's first divergence, as lines. @public */
export function divergenceText(run: RunComparison, options: TextOptions): string[] {
  const { divergence } = run;
  if (divergence === null) return [];
  const { palette, verbose } = options;
  const { args, kind, op, n } = divergence;
  const place =
    divergence.place === "at" ? `operation ${grouped(n)}: ${visible(op)}` : placeText(divergence);
  const argsText = shortened(valueText(args), verbose ? Infinity : ARGS_MAX);
  return [
    palette.bold(`run ${visible(run.run)}, ${place} (kind: ${kind})`),
    `  what happened  ${palette.bad(divergenceSentence(divergence))}`,
    ...(argsText === "nothing" ? [] : [`  asked          ${visible(op)}  ${argsText}`]),
    ...answerLines(divergence, options),
    ...logLines(divergence, palette),
    ...differLines(divergence, options),
    ...stateLines(divergence, palette),
    ...agreeLines(run, divergence),
    ...renamingLines(divergence),
    ...causeLines(divergence),
    ...(run.examination === null ? [] : examinationText(divergence, run.examination, options)),
    ...historyLines(divergence.before, options),
    ...(run.alignment === null ? [] : alignmentText(run.alignment, options)),
    ...(run.reproduce === null
      ? []
      : ["  reproduce", `    ${palette.bold(visible(run.reproduce))}`]),
  ];
}

function answerLines(divergence: Divergence, options: TextOptions): string[] {
  const { base, candidate, kind, place } = divergence;
  if (place !== "at") return []; // no operation whose answers differ
  // Two sides as printed always differ: an answer that is the same stands there once.
  const isSameAnswer = base !== null && candidate !== null && kind === "state";
  const isSameResult = base !== null && candidate !== null && kind === "effect";
  const most = options.verbose ? Infinity : ANSWER_MAX;
  if (isSameAnswer || isSameResult) {
    const both = `  both           ${shortened(answerText(base), most)}`;
    return isSameAnswer ? [both] : [both, ...effectLines(divergence, options)];
  }
  const [left, right] = contrastedTexts(answerText(base), answerText(candidate), most);
  return [
    ...sideLines("base", left, divergence, options),
    ...sideLines("candidate", right, divergence, options),
  ];
}

function effectLines({ base, candidate }: Divergence, { palette, verbose }: TextOptions): string[] {
  const most = verbose ? Infinity : ANSWER_MAX;
  const [left, right] = contrastedTexts(effectsText(base), effectsText(candidate), most);
  return [
    `  ${palette.base("base")}           effects: ${left}`,
    `  ${palette.candidate("candidate")}      effects: ${right}`,
  ];
}

function sideLines(
  side: "base" | "candidate",
  text: string,
  divergence: Divergence,
  { palette, verbose }: TextOptions,
): string[] {
  const answer = divergence[side];
  const label = palette[side](side.padEnd(13));
  if (answer === null) {
    const isBroken = side === "candidate" && divergence.failure !== null;
    return [`  ${label}  ${isBroken ? divergence.failure.kind : "nothing"}`];
  }
  const most = verbose ? Infinity : ANSWER_MAX;
  const lines = [`  ${label}  ${text}`];
  if ((answer.fx?.length ?? 0) > 0) {
    lines.push(`  ${" ".repeat(13)}  effects: ${shortened(effectsText(answer), most)}`);
  }
  return lines;
}

function logLines({ failure }: Divergence, palette: Palette): string[] {
  const tail = failure?.stderrTail?.trimEnd() ?? "";
  if (tail === "") return [];
  const lines = tail.split(/\r?\n/).slice(-8);
  return ["  its last messages", ...lines.map((line) => palette.dim(`    ${visible(line)}`))];
}

function differLines(divergence: Divergence, { palette, verbose }: TextOptions): string[] {
  const { base, candidate, fields } = divergence;
  if (fields.length === 0) return [];
  let lines: DiffLine[] = answerDiff(base, candidate, verbose);
  const isOfAnswers = fields.some(({ path }) => /^\/(ok|err|fx)/.test(path));
  if (lines.length === 0 || !isOfAnswers) lines = fieldDiff(fields, verbose);
  const paint = { "-": palette.base, "+": palette.candidate, " ": palette.dim };
  return [
    `  what differs   ${palette.base("- base")}  ${palette.candidate("+ candidate")}`,
    ...lines.map(({ sign, text }) => paint[sign](`    ${sign} ${text}`)),
  ];
}

function stateLines({ components }: Divergence, palette: Palette): string[] {
  if (components.length === 0) return [];
  return [
    "  state after it (digests that differ)",
    ...components.map(({ component, base, candidate }) => {
      const left = palette.base(visible(base ?? "none"));
      const right = palette.candidate(visible(candidate ?? "none"));
      return `    ${visible(component).padEnd(12)} base ${left}  candidate ${right}`;
    }),
  ];
}

function agreeLines(run: RunComparison, divergence: Divergence): string[] {
  const label = divergence.failure === null ? "still agrees " : "agreed before";
  const lines = [`  ${label}  ${agreedBefore(run)}`];
  const { base, candidate, kind } = divergence;
  const isSameOperation = kind !== "missing operation" && kind !== "extra operation";
  const here = isSameOperation ? agreeingFields(base, candidate) : [];
  if (here.length > 0) {
    const more = here.length - AGREEING_MAX;
    const shown = here.slice(0, AGREEING_MAX);
    const names = more > 0 ? `${shown.join(", ")} and ${more} more` : listed(shown);
    const outcome = base?.err === undefined ? "both grant it, with the same" : "both with the same";
    lines.push(`                 in this operation: ${outcome} ${names}`);
  }
  if (divergence.agreeing.length > 0) {
    lines.push(
      `                 state after it: the digests of ${listed(divergence.agreeing.map(visible))}`,
    );
  }
  return lines;
}

function agreedBefore(run: RunComparison): string {
  if (run.agreed === 0) {
    const isBroken = run.divergence !== null && run.divergence.failure !== null;
    return `nothing: the first operation ${isBroken ? "has no answer" : "already differs"}`;
  }
  const all = run.agreed === 1 ? "the 1 operation" : `all ${counted(run.agreed, "operation")}`;
  const refusals =
    run.agreedRefusals === 0
      ? ""
      : `, ${counted(run.agreedRefusals, "refusal")} with the same code and detail among them`;
  return `${all} before it${refusals}`;
}

function renamingLines({ renaming }: Divergence): string[] {
  if (renaming === null) return [];
  const { space, base, candidate, expected } = renaming;
  const why =
    expected === null
      ? `${candidate} of the candidate stands for another id of the base`
      : `${expected} of the candidate stands for it`;
  return [`  renaming       broken: ${visible(space)} ${base} is now ${candidate}, but ${why}`];
}

function causeLines({ cause, n, before }: Divergence): string[] {
  if (cause === null || before.length === 0) return [];
  const what =
    cause.n === n
      ? "this operation itself: before it the digest of every component was the same on both sides"
      : `operation ${grouped(cause.n)} (${visible(cause.op)}): since then a component's digest differs`;
  return [`  cause          ${what}`];
}

function historyLines(
  before: readonly AnsweredOperation[],
  { palette, verbose }: TextOptions,
): string[] {
  if (before.length === 0) return [];
  const most = verbose ? Infinity : HISTORY_MAX;
  return [
    `  the last ${counted(before.length, "operation")} before it (the same on both sides)`,
    ...before.map(({ n, op, args, answer }) => {
      const asked = valueText(args);
      const text = `${visible(op)}${asked === "nothing" ? "" : ` ${asked}`} → ${answerText(answer)}`;
      return palette.dim(`    ${String(n).padStart(5)}  ${shortened(text, most)}`);
    }),
  ];
}
