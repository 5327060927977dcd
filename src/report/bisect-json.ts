// The document of `bisect`.
import type { Bisection, TestedCommit, TestedPoint } from "../tools/bisect/outcome.js";
import { fieldJson } from "./json.js";

/** `trace`: the hash of the file; `reproduce`: the command that shows what was found. @public */
export function bisectJson(
  result: Bisection,
  trace: string | null,
  reproduce: string | null,
): unknown {
  const head = { command: "bisect", over: result.over, verdict: result.verdict, trace };
  return { ...head, ...body(result), reproduce, runs: result.runs, operations: result.operations };
}

function body(result: Bisection): object {
  switch (result.over) {
    case "commits":
      return {
        good: commitJson(result.good),
        bad: commitJson(result.bad),
        first: commitJson(result.first),
        candidates: result.candidates,
        tested: result.tested.map(commitJson),
        skipped: result.tested.filter(({ outcome }) => outcome === "skipped").length,
      };
    case "operations": {
      const { by, run, n, op, args, agreed, failure, answers } = result;
      const found = { by, run, n, op, args, agreed, failure, answers };
      return { ...found, fields: result.fields.map(fieldJson), ...pointsJson(result.tested) };
    }
    case "key": {
      const { key, by, good, bad, last, first, run, n, op, args, base, changed } = result;
      const found = { key, by, good, bad, last, first, run, n, op, args, base, changed };
      return { ...found, ...pointsJson(result.tested) };
    }
  }
}

function commitJson(tested: TestedCommit): object {
  const { commit, subject, author, date, outcome, reason, divergence, operations } = tested;
  return { commit, subject, author, date, outcome, reason, divergence, operations };
}

function pointsJson(tested: readonly TestedPoint[]): object {
  return { tested, skipped: tested.filter(({ outcome }) => outcome === "skipped").length };
}
