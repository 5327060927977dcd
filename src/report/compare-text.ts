// The text of a comparison: both sides, what was compared, every run's verdict, the earliest divergence in full, and one
// summary line with what was really looked at.
import { votesOf } from "../tools/compare-many.js";
import type { CompareResult, RunComparison, SideInfo, Vote } from "../tools/outcome.js";
import type { CompareMode } from "../tools/equality/modes.js";
import { alignmentSentence } from "./alignment-text.js";
import { divergenceSentence, divergenceText, placeText } from "./divergence-text.js";
import type { TextOptions } from "./text-options.js";
import { sideTimesLines } from "./latency-text.js";
import type { Palette } from "./palette.js";
import { counted, grouped, listed, revisionName, visible } from "./words.js";

const RUN_LINES_MAX = 20;
const IGNORED = "producer, created, note, message, mark lines, site, at_us, keys with x_";

/** @public */
export interface CompareTextOptions extends TextOptions {
  readonly trace: string | null; // hash of the base trace, with its kind: `sha256 …`
}

/** The reports of one candidate or of several, with who agrees with whom. @public */
export function comparisonsText(
  results: readonly CompareResult[],
  options: CompareTextOptions,
): string {
  const [only] = results;
  if (results.length === 1 && only !== undefined) return compareText(only, options);
  const { palette } = options;
  const lines = results.map((result) => `${compareText(result, options)}\n`);
  const votes = votesOf(results);
  const shown = options.verbose ? votes : votes.slice(0, RUN_LINES_MAX);
  if (votes.length > 0) lines.push(palette.bold("Who answers alike"));
  lines.push(...shown.map((vote) => voteText(vote, palette)));
  if (votes.length > shown.length) {
    lines.push(`… and ${counted(votes.length - shown.length, "run")} more (--verbose)`);
  }
  lines.push(
    "",
    ...results.map((result) => `${candidateName(result)}: ${compareSummary(result, palette)}`),
  );
  return lines.join("\n");
}

function candidateName({ candidate }: CompareResult): string {
  return visible(candidate?.spec ?? "candidate");
}

function voteText({ run, n, op, groups, majority }: Vote, palette: Palette): string {
  const sides = groups.map((names) => listed(names.map(visible))).join(" against ");
  const most =
    majority === null
      ? palette.warn("no majority")
      : `majority: ${palette.bold(listed(majority.map(visible)))}`;
  return `${visible(run)}, operation ${grouped(n)} (${visible(op)}): ${sides}; ${most}`;
}

/** The whole report of one candidate. @public */
export function compareText(result: CompareResult, options: CompareTextOptions): string {
  const lines = [
    ...headLines(result, options),
    ...runLines(result.runs, options),
    ...divergenceLines(result, options),
    "",
    ...(result.times ? [...sideTimesLines(result.times, options.palette), ""] : []),
    compareSummary(result, options.palette),
  ];
  return lines.join("\n");
}

function headLines(result: CompareResult, { palette, trace }: CompareTextOptions): string[] {
  const lines: string[] = [];
  const { base, candidate } = result;
  if (base !== null) {
    const hash = trace === null ? "" : `, ${trace}`;
    lines.push(`${palette.base("base     ")}  ${sideText(base)}${hash}`);
  }
  if (candidate !== null) {
    lines.push(`${palette.candidate("candidate")}  ${sideText(candidate)}`);
  }
  for (const { what, base: left, candidate: right, isLoss } of result.differences) {
    const note = isLoss ? "; therefore not compared" : "";
    lines.push(visible(`differs    ${what}: base ${left}, candidate ${right}${note}`));
  }
  lines.push(`compared   ${comparedParts(result)}`, `           not compared: ${IGNORED}`);
  return lines;
}

function sideText(side: SideInfo): string {
  const words = [
    visible(`${side.name} ${side.version}`),
    revisionName(side.revision, side.dirty),
    ...(side.formatVersion === null ? [] : [`format version ${side.formatVersion}`]),
    side.digest === null ? "no digests" : `digests ${side.digest}`,
  ];
  return `${visible(side.spec)}: ${words.join(", ")}`;
}

function comparedParts(result: CompareResult): string {
  const isLost = (what: string): boolean =>
    result.differences.some((difference) => difference.isLoss && difference.what === what);
  const parts = ["results", "refusals with their detail"];
  if (!isLost("effects")) parts.push("effects in order");
  const hasDigests = result.base?.digest !== null && result.candidate?.digest !== null;
  if (hasDigests && !isLost("digests")) parts.push("state digests");
  return `${parts.join(", ")} (mode ${result.mode})`;
}

function runLines(runs: readonly RunComparison[], { palette, verbose }: TextOptions): string[] {
  const equal = runs.filter(({ verdict }) => verdict === "equal");
  const others = runs.filter(({ verdict }) => verdict !== "equal");
  const lines = [""];
  if (runs.length <= RUN_LINES_MAX || verbose) {
    lines.push(...runs.map((run) => runLine(run, palette)));
    return lines;
  }
  lines.push(...others.slice(0, RUN_LINES_MAX).map((run) => runLine(run, palette)));
  const more = others.length - RUN_LINES_MAX;
  if (more > 0) lines.push(`… and ${counted(more, "run")} more that are not equal (--verbose)`);
  if (equal.length > 0) {
    const operations = equal.reduce((total, run) => total + run.agreed, 0);
    lines.push(
      palette.good(`${counted(equal.length, "run")} equal, ${counted(operations, "operation")}`),
    );
  }
  return lines;
}

/** One run on one line. @internal */
export function runLine(run: RunComparison, palette: Palette): string {
  const { divergence } = run;
  if (run.unstable !== null) {
    const { n, op, fields } = run.unstable;
    const what =
      fields.length === 0 ? "" : `, ${listed(fields.slice(0, 4).map(({ path }) => visible(path)))}`;
    return `${palette.bad("flaky    ")}  ${visible(run.run)}: the candidate does not do the same twice at operation ${grouped(n)} (${visible(op)})${what}`;
  }
  if (divergence !== null) {
    const agreed = `${counted(run.agreed, "operation")} agreed before it`;
    const where = `${placeText(divergence)}, ${divergence.kind}`;
    const known = run.accepted === null ? "" : `; accepted: ${visible(run.accepted)}`;
    const word = run.accepted === null ? palette.bad("divergent") : palette.warn("accepted ");
    return `${word}  ${visible(run.run)}: first ${where}; ${agreed}${known}`;
  }
  const note = run.note === null ? "" : `: ${visible(run.note)}`;
  const paint = run.verdict === "equal" ? palette.good : palette.warn;
  return `${paint(run.verdict.padEnd(9))}  ${visible(run.run)}: ${counted(run.agreed, "operation")} agree${note}`;
}

function divergenceLines(result: CompareResult, options: TextOptions): string[] {
  const { first, runs } = result;
  if (first === null) return [];
  const divergent = runs.filter(({ divergence }) => divergence !== null);
  const title =
    divergent.length === 1
      ? "First divergence"
      : `Earliest of ${counted(divergent.length, "first divergence")}`;
  const shown = options.verbose ? divergent : divergent.filter(({ run }) => run === first.run);
  return shown.flatMap((run) => [
    "",
    options.palette.bold(run.run === first.run ? title : "Also"),
    ...divergenceText(run, options),
  ]);
}

const AGREEMENT: Readonly<Record<CompareMode, string>> = {
  exact: "agree",
  renamed: "agree up to the names of ids",
  "placement-free": "agree in every answer, placement aside",
  decisions: "agree in every decision",
  quiescent: "agree in their states whenever nothing is under way",
};

function modeWords(mode: CompareMode): string {
  return mode === "renamed" ? " up to a renaming of ids" : "";
}

/** The last line: the verdict and what was really looked at. @internal */
export function compareSummary(result: CompareResult, palette: Palette): string {
  const looked = `${counted(result.runs.length, "run")} and ${counted(result.operations, "operation")} compared`;
  const accepted = result.runs.filter(({ accepted: reason }) => reason !== null).length;
  const rest = [
    ...(accepted > 0 ? [counted(accepted, "accepted divergence")] : []),
    ...(result.gone.length > 0 ? [`${counted(result.gone.length, "accepted one")} gone`] : []),
    ...(result.hidden > 0 ? [`${counted(result.hidden, "differing field")} hidden by masks`] : []),
    ...(result.skipped > 0 ? [`${counted(result.skipped, "operation")} skipped`] : []),
    ...(result.leftOut > 0 ? [`${counted(result.leftOut, "run")} left out`] : []),
    ...(result.unread ? ["stopped at the first divergent run (--first)"] : []),
    ...(result.error === null ? [] : [`ended early: ${visible(result.error.describe())}`]),
  ];
  const tail = [looked, ...rest].join("; ");
  const { first } = result;
  const firstRun = result.runs.find(({ run }) => run === first?.run);
  const divergence = firstRun?.divergence ?? null;
  const alignment = firstRun?.alignment ?? null;
  switch (result.verdict) {
    case "equal":
      return palette.good(`equal${modeWords(result.mode)}: ${tail}`);
    case "agree":
      return palette.good(`${AGREEMENT[result.mode]}: ${tail}`);
    case "flaky":
      return palette.bad(`flaky: the candidate does not do the same twice; ${tail}`);
    case "divergent": {
      const where =
        divergence === null || first === null
          ? ""
          : ` ${placeText(divergence)} of run ${visible(first.run)}: ${alignmentSentence(alignment) ?? divergenceSentence(divergence)}`;
      return `${palette.bad(`divergent${where}`)}; ${tail}`;
    }
    case "incomplete":
      return palette.warn(`incomplete: what was compared agrees; ${tail}`);
    case "invalid":
      return palette.warn(`invalid: neither equal nor divergent; ${tail}`);
  }
}
