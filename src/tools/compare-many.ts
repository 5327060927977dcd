// Several candidates against one trace: where they differ from it or among each other, and which answer most of them
// give. The base counts as one of the voices.
import { canonicalJson } from "../base/canonical-json.js";
import type { Answer } from "../base/operations.js";
import type { CompareResult, CompareVerdict, Divergence, Vote } from "./outcome.js";

const BASE = "base";
const VOICES: ReadonlySet<CompareVerdict> = new Set(["equal", "agree", "divergent"]);

/** What each side answers at the earliest operation of a run at which any two of them differ. @internal */
export function votesOf(results: readonly CompareResult[]): readonly Vote[] {
  const divergences = new Map<
    string,
    { readonly candidate: string; readonly found: Divergence }[]
  >();
  for (const { candidate, runs } of results) {
    for (const { run, divergence } of runs) {
      if (divergence === null) continue;
      const list = divergences.get(run) ?? [];
      list.push({ candidate: candidate?.spec ?? "", found: divergence });
      divergences.set(run, list);
    }
  }
  return [...divergences].map(([run, list]) => voteOf(run, list, votersOf(run, results)));
}

// Who disagrees with itself, or was not compared to the end, has no voice in a run.
function votersOf(run: string, results: readonly CompareResult[]): string[] {
  return results
    .filter(({ runs }) => runs.some((each) => each.run === run && VOICES.has(each.verdict)))
    .map(({ candidate }) => candidate?.spec ?? "");
}

function voteOf(
  run: string,
  list: readonly { readonly candidate: string; readonly found: Divergence }[],
  specs: readonly string[],
): Vote {
  const n = Math.min(...list.map(({ found }) => found.n));
  const here = list.filter(({ found }) => found.n === n);
  // who has not parted from the base yet gave its answer
  const likeBase = specs.filter((spec) => !here.some(({ candidate }) => candidate === spec));
  const groups = new Map<string, string[]>([["", [BASE, ...likeBase]]]);
  for (const { candidate, found } of here) {
    const answer = answerKey(found);
    groups.set(answer, [...(groups.get(answer) ?? []), candidate]);
  }
  const sides = [...groups.values()];
  const most = Math.max(...sides.map(({ length }) => length));
  const leading = sides.filter(({ length }) => length === most);
  return {
    run,
    n,
    op: here[0]!.found.op, // the earliest divergence is one of the list
    groups: sides,
    majority: leading.length === 1 ? leading[0]! : null,
  };
}

function answerKey({ candidate, failure, components }: Divergence): string {
  if (failure !== null) return `${failure.kind}: ${failure.message}`;
  const { ok, err, fx }: Answer = candidate ?? {};
  return canonicalJson([ok ?? null, err ?? null, fx ?? null, components]);
}
