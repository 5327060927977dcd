// Divergences that are known and accepted, by signature: new ones fail, those that are gone are told.
import type { AcceptedDivergence, CompareResult, Divergence, RunComparison } from "./outcome.js";

/** The signature of a divergence: what it is, never its words. @internal */
export function signatureOf({ kind, op, components }: Divergence): {
  readonly kind: string;
  readonly op: string;
  readonly component: string | null;
} {
  return { kind, op, component: components[0]?.component ?? null };
}

/** The comparison with accepted divergences marked; without a new one it is no finding. @internal */
export function withBaseline(
  result: CompareResult,
  accepted: readonly AcceptedDivergence[],
): CompareResult {
  const met = new Set<AcceptedDivergence>();
  const runs = result.runs.map((run): RunComparison => {
    if (run.divergence === null) return run;
    const { kind, op, component } = signatureOf(run.divergence);
    const found = accepted.find(
      (each) => each.kind === kind && each.op === op && each.component === component,
    );
    if (found === undefined) return run;
    met.add(found);
    return { ...run, accepted: found.reason };
  });
  const isNew = runs.some(
    ({ divergence, accepted: reason }) => divergence !== null && reason === null,
  );
  const gone = accepted.filter((each) => !met.has(each));
  const first = firstOf(runs.filter(({ accepted: reason }) => reason === null)) ?? null;
  const verdict = result.verdict === "divergent" && !isNew ? restOf(runs) : result.verdict;
  return { ...result, runs, verdict, first, gone };
}

// What the verdict is when accepted divergences do not count.
function restOf(runs: readonly RunComparison[]): CompareResult["verdict"] {
  for (const verdict of ["flaky", "invalid", "incomplete"] as const) {
    if (runs.some((run) => run.verdict === verdict)) return verdict;
  }
  return "agree";
}

function firstOf(runs: readonly RunComparison[]): CompareResult["first"] {
  let first: CompareResult["first"] = null;
  for (const { run, divergence } of runs) {
    if (divergence !== null && (first === null || divergence.n < first.n)) {
      first = { run, n: divergence.n };
    }
  }
  return first;
}
