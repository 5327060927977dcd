// Runs a workload without writing a trace: does the implementation keep its promises, and what did the workload count?
import { CandidateError } from "../base/errors.js";
import type { Answer, DigestDepth } from "../base/operations.js";
import type { Workload } from "../workload/workload.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import { LawChecker } from "./laws.js";
import { Pulse } from "./pulse.js";
import { servedNothing } from "./record.js";
import type { ToolControl } from "./pulse.js";
import type { RunResult, ScenarioResult } from "./outcome.js";

const DEPTH: DigestDepth = "layout";

/** @public */
export interface RunWorkloadsOptions extends ToolControl {
  readonly workloads: Iterable<Workload>;
  readonly start: StartAdapter;
}

/** Runs each workload to its end. @public */
export async function runWorkloads(options: RunWorkloadsOptions): Promise<RunResult> {
  const candidate = new Candidate(options.start);
  const pulse = new Pulse(options);
  const results: ScenarioResult[] = [];
  const counters = new Map<string, number>();
  try {
    for (const workload of options.workloads) {
      results.push(await runOne(workload, candidate, pulse));
      pulse.runs += 1;
      for (const [name, count] of Object.entries(workload.counters ?? {})) {
        counters.set(name, (counters.get(name) ?? 0) + count);
      }
    }
  } finally {
    await candidate.dispose();
  }
  const isFailed = results.some(({ verdict }) => verdict === "failed");
  const sums = Object.fromEntries(counters);
  return {
    verdict: isFailed ? "failed" : servedNothing(sums) ? "incomplete" : "passed",
    scenarios: results,
    operations: pulse.operations,
    counters: sums,
  };
}

async function runOne(
  workload: Workload,
  candidate: Candidate,
  pulse: Pulse,
): Promise<ScenarioResult> {
  const { run, config } = workload;
  pulse.run = run;
  const before = pulse.operations;
  const adapter = await candidate.ready();
  const digestDepth = givesDepth(adapter.info.digest, DEPTH) ? DEPTH : null;
  await candidate.open({ run, domain: "kv", config, digestDepth });
  const laws = new LawChecker();
  let answer: Answer | null = null;
  let last: { n: number; op: string } = { n: 0, op: "boot" };
  const failed = (message: string): ScenarioResult => ({
    ...{ name: run, config: null, file: null, verdict: "failed" },
    ...{ n: last.n, op: last.op, message, operations: pulse.operations - before },
  });
  for (let n = 0; ;) {
    const step = workload.next(answer);
    if (step === null) break;
    answer = null;
    if ("mark" in step) continue;
    last = { n, op: step.operation.op };
    const { answers, failure } = await adapter.apply([step.operation]);
    const isDue = pulse.count(1);
    answer = answers[0] ?? null;
    if (answer === null || failure !== null) {
      pulse.throwIfInterrupted();
      await candidate.dispose();
      return failed(failure === null ? "gave no answer" : `${failure.kind}: ${failure.message}`);
    }
    if (answer.err?.code === "unsupported") {
      const what = `${adapter.info.name} does not answer ${last.op} (operation ${n} of ${run})`;
      throw new CandidateError("candidate_handshake", what);
    }
    if (last.op === "boot" && answer.err !== undefined) {
      const { code, rule } = answer.err;
      const why = rule === undefined ? code : `${code}, ${rule}`;
      await candidate.dispose();
      return {
        ...failed(`boot is refused (${why}): nothing can be asked of this run`),
        verdict: "invalid",
      };
    }
    const law = laws.check(step.operation, answer);
    if (law !== null) return failed(law.message);
    n += 1;
    if (isDue) await pulse.breathe();
  }
  const { failure } = await candidate.close();
  if (failure !== null) return failed(`${failure.kind}: ${failure.message}`);
  const passed = { n: null, op: null, message: null, operations: pulse.operations - before };
  return { name: run, config: null, file: null, verdict: "passed", ...passed };
}
