// Comparisons of every kind, as the tools find them.
import type { Adapter } from "../../src/adapter/adapter.js";
import { CandidateError } from "../../src/base/errors.js";
import type { Answer } from "../../src/base/operations.js";
import { signatureOf, withBaseline } from "../../src/tools/baseline.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import {
  at,
  FaultyAdapter,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "../tools/faulty-adapter.js";
import type { Line, Mistake } from "../tools/faulty-adapter.js";

const trace = await recorded(seeds(0, 2, 60));
const lines = readLines(trace);
const N = 9; // an operation of every run

export function against(
  mistake: Mistake,
  more: Partial<Parameters<typeof compareTrace>[0]> = {},
  path: string = trace,
): Promise<CompareResult> {
  const start = async (): Promise<Adapter> => new FaultyAdapter(mistake);
  const base = { spec: "self", start: async (): Promise<Adapter> => new FaultyAdapter(right) };
  const reproduce = (run: string, n: number): string =>
    `unified-trace compare … --run ${run} # ${n}`;
  return compareTrace({ trace: path, candidate: "planted", start, base, reproduce, ...more });
}

const failure = (kind: "crash" | "hang" | "protocol" | "invariant"): Mistake =>
  at(N, () => ({ kind, message: `planted ${kind}`, stderrTail: "one\n::error::two\n" }));

/** Another result: a further key, so that only one side has it. */
function otherResult(answer: Answer): Answer {
  const { ok } = answer as Line; // an answer of no operation
  return { ...answer, ok: { ...ok, more: 1 } };
}

async function flaky(): Promise<CompareResult> {
  let started = 0;
  const start = async (): Promise<Adapter> => {
    started += 1;
    return new FaultyAdapter(started % 2 === 0 ? right : at(N, otherResult));
  };
  return against(right, { start, isDoubled: true });
}

async function accepted(): Promise<CompareResult> {
  const result = await against(at(N, otherResult));
  const found = result.runs.flatMap(({ divergence }) => (divergence === null ? [] : [divergence]));
  const reasons = found.map((one) => ({ ...signatureOf(one), reason: "known | <b>since</b> May" }));
  const gone = { kind: "crash", op: "boot", component: null, reason: "never met" };
  return withBaseline(result, [...reasons, gone]);
}

/** The trace with every operation of this number left out of each run and the others numbered anew. */
function without(n: number): string {
  return writeLines(
    lines.flatMap((line) => {
      if (line.kind === "end") return [{ ...line, ops: line.ops - 1 }];
      if (line.kind !== "op" || line.n < n) return [line];
      return line.n === n ? [] : [{ ...line, n: line.n - 1 }];
    }),
  );
}

async function several(): Promise<CompareResult[]> {
  const crash = await against(failure("crash"), { candidate: "crashing" });
  const other = await against(at(N + 2, otherResult), { candidate: "other" });
  return [await against(right, { candidate: "like" }), other, crash];
}

async function withLoss(): Promise<CompareResult[]> {
  const start = async (): Promise<Adapter> =>
    new FaultyAdapter(at(N, otherResult), null, { digest: null, fx: false, revision: "f00" });
  const one = await against(right, { start, candidate: "a", first: true });
  return [one, { ...one, candidate: null, base: null, differences: [], runs: [], first: null }];
}

export const COMPARISONS: Readonly<Record<string, () => Promise<readonly CompareResult[]>>> = {
  equal: async () => [await against(right)],
  result: async () => [await against(at(N, otherResult))],
  refusal: async () => [await against(at(N, () => ({ err: { code: "refused_rows" } })))],
  effect: async () => [await against(at(N, (was) => ({ ...was, fx: [["wait", "f1"]] })))],
  state: async () => [await against(at(N, (was) => ({ ...was, digest: { full: "0" } })))],
  crash: async () => [await against(failure("crash"))],
  hang: async () => [await against(failure("hang"))],
  protocol: async () => [await against(failure("protocol"))],
  invariant: async () => [await against(failure("invariant"))],
  "mode decisions": async () => [await against(at(N, otherResult), { mode: "decisions" })],
  "missing operation": async () => [await compareFiles({ base: trace, candidate: without(N) })],
  "extra operation": async () => [await compareFiles({ base: without(N), candidate: trace })],
  flaky: async () => [await flaky()],
  accepted: async () => [await accepted()],
  several,
  "several, one of them without sides": withLoss,
  error: async () => [await against(right, {}, writeLines(lines.slice(0, -3)))],
  "a start that failed": async () => [
    {
      ...(await against(right)),
      ...{ candidate: null, runs: [], verdict: "incomplete" },
      error: new CandidateError("candidate_start", "does not start", { file: "x", line: 3 }),
    },
  ],
};
