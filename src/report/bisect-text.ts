// The text of `bisect`: what was found, what shows it, then the summary.
import type {
  Bisection,
  BisectVerdict,
  CommitBisection,
  CommitDivergence,
  KeyBisection,
  OperationBisection,
  TestedCommit,
} from "../tools/bisect/outcome.js";
import type { CommitInfo } from "../adapter/checkout-history.js";
import type { Palette } from "./palette.js";
import { counted, grouped, shortened, visible } from "./words.js";

const JSON_MAX = 200;
const FIELDS_MAX = 8;
const LISTED_MAX = 50;

/** `reproduce`: the command that shows what was found. @public */
export function bisectText(result: Bisection, palette: Palette, reproduce: string | null): string {
  const lines = linesOf(result);
  if (reproduce !== null) lines.push(palette.dim(visible(reproduce)));
  const paint = result.verdict === "found" ? palette.good : palette.warn;
  lines.push(paint(summaryOf(result)));
  return lines.join("\n");
}

/** One line on a commit that was tested; `left`: how many may still be the first one. @public */
export function testedText(tested: TestedCommit, left: number | null): string {
  const { outcome, reason, divergence } = tested;
  const why =
    divergence !== null ? `, ${whereOf(divergence)}` : reason === null ? "" : `: ${reason}`;
  const rest = left === null ? "" : `${counted(left, "commit")} to test; `;
  return `${rest}${nameOf(tested)}: ${outcome}${shortened(visible(why), 300)}`;
}

function linesOf(result: Bisection): string[] {
  switch (result.over) {
    case "commits":
      return commitLines(result);
    case "operations":
      return operationLines(result);
    case "key":
      return keyLines(result);
  }
}

function commitLines({ verdict, first, candidates, tested }: CommitBisection): string[] {
  const lines: string[] = [];
  if (verdict === "found") {
    lines.push(
      `first divergent commit  ${first.commit}`,
      `  subject      ${visible(first.subject)}`,
      `  author       ${visible(first.author)}, ${first.date}`,
    );
  } else {
    lines.push(`one of these ${grouped(candidates.length)} commits is the first that diverges:`);
    const skipped = new Map(tested.map(({ commit, reason }) => [commit, reason]));
    for (const candidate of candidates.slice(0, LISTED_MAX)) {
      const reason = skipped.get(candidate.commit) ?? null;
      const why = reason === null ? "" : ` (skipped: ${shortened(visible(reason), 160)})`;
      lines.push(`  ${nameOf(candidate)}${why}`);
    }
    const more = candidates.length - LISTED_MAX;
    if (more > 0) lines.push(`  and ${grouped(more)} more`);
    lines.push(`the earliest that is known to diverge is ${nameOf(first)}`);
  }
  if (first.divergence !== null) lines.push(`  divergence   ${whereOf(first.divergence)}`);
  return lines;
}

function nameOf({ commit, subject }: CommitInfo): string {
  return `${commit.slice(0, 12)} (${shortened(visible(subject), 80)})`;
}

function whereOf({ run, n, op, place, kind, component }: CommitDivergence): string {
  const at = place === "at" ? "at" : place;
  const state = component === null ? "" : ` in ${visible(component)}`;
  return `${at} operation ${grouped(n)} (${visible(op)}) of run ${visible(run)}: ${kind}${state}`;
}

function operationLines(result: OperationBisection): string[] {
  const { by, run, n, op, args, agreed, fields, failure, answers } = result;
  const what =
    by === "check"
      ? "the check fails with it"
      : `the two ${by === "state" ? "states" : "digests"} differ after it`;
  const lines = [
    `run ${visible(run)}, operation ${grouped(n)}: ${op}  ${json(args)}`,
    `  ${failure === null ? what : `the candidate breaks there: ${visible(failure)}`}`,
  ];
  if (agreed < n) {
    lines.push(`  operations ${grouped(agreed)} to ${grouped(n - 1)} could not be judged`);
  }
  for (const { path, base, candidate } of fields.slice(0, FIELDS_MAX)) {
    lines.push(`    ${visible(path)}: base ${json(base)}, candidate ${json(candidate)}`);
  }
  if (fields.length > FIELDS_MAX) {
    lines.push(`    and ${counted(fields.length - FIELDS_MAX, "more field", "more fields")}`);
  }
  if (by === "check") return lines;
  lines.push(
    answers === null
      ? "  all answers of the run agree"
      : `  answers first differ at operation ${grouped(answers.n)} (${answers.op})`,
  );
  return lines;
}

function keyLines(result: KeyBisection): string[] {
  const { key, last, first, good, run, n, op, args, base, changed, verdict } = result;
  const between = verdict === "found" ? "" : " (what lies between was not judged)";
  return [
    `${visible(key)}  ${grouped(last)}: as at ${grouped(good)}`,
    `${visible(key)}  ${grouped(first)}: run ${visible(run)} parts at operation ${grouped(n)}${between}`,
    `  asked        ${op}  ${json(args)}`,
    `  at ${grouped(good)}: ${visible(base.outcome)}  ${json(base.answer)}`,
    `  at ${grouped(first)}: ${visible(changed.outcome)}  ${json(changed.answer)}`,
  ];
}

function json(value: unknown): string {
  return shortened(visible(value === undefined ? "-" : JSON.stringify(value)), JSON_MAX);
}

const VERDICT_WORDS: Readonly<Record<BisectVerdict, string>> = {
  found: "found",
  several: "not narrowed down to one",
  incomplete: "incomplete: the time budget is over",
};

function summaryOf(result: Bisection): string {
  const { tested, runs, operations } = result;
  const skipped = tested.filter(({ outcome }) => outcome === "skipped").length;
  const noun = { commits: "commit", operations: "prefix", key: "value" }[result.over];
  const plural = result.over === "operations" ? "prefixes" : `${noun}s`;
  const counts = `${counted(tested.length - skipped, noun, plural)} tested, ${grouped(skipped)} skipped`;
  return `${VERDICT_WORDS[result.verdict]}: ${counts}, ${counted(runs, "run")} and ${counted(operations, "operation")} compared`;
}
