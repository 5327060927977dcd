// Divergences that are known and accepted, by signature: new ones fail, those that are gone are told.
import { InputError } from "../base/errors.js";
import type { JsonFile } from "../workload/json-file.js";
import type { AcceptedDivergence, CompareResult, Divergence, RunComparison } from "./outcome.js";

/** Reads `{"accepted":[{"kind","op","component","reason"}]}`. Throws `InputError` that names the entry. @internal */
export function readBaseline(source: JsonFile): readonly AcceptedDivergence[] {
  const list = (source.value as { readonly accepted?: unknown } | null)?.accepted;
  if (!Array.isArray(list)) fail(source, "", "expected an object with the list `accepted`");
  return list.map((entry: unknown, index) => {
    const at = `/accepted/${index}`;
    if (typeof entry !== "object" || entry === null) fail(source, at, "expected an object");
    const { kind, op, component, reason, ...others } = entry as Readonly<Record<string, unknown>>;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
      const expected = "expected kind, op, component, reason";
      fail(source, `${at}/${unknown}`, `unknown key ${unknown}: ${expected}`);
    }
    if (typeof kind !== "string") fail(source, `${at}/kind`, "expected the kind of a divergence");
    if (typeof op !== "string") fail(source, `${at}/op`, "expected an operation");
    if (component !== null && typeof component !== "string") {
      fail(source, `${at}/component`, "expected a component or null");
    }
    if (typeof reason !== "string" || reason.trim() === "") {
      fail(source, `${at}/reason`, "expected the reason in words");
    }
    return { kind, op, component, reason };
  });
}

function fail(source: JsonFile, path: string, message: string): never {
  throw new InputError("input_format", message, {
    file: source.file,
    ...source.placeOf(path),
    path,
  });
}

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
