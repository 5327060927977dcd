// Runs a workload without writing a trace: does the implementation keep its promises, and what did the workload count?
import type { Adapter } from "../adapter/adapter.js";
import { CandidateError } from "../base/errors.js";
import type { Answer, DigestDepth, Operation } from "../base/operations.js";
import { groupOf } from "../workload/workload.js";
import type { Workload, WorkloadGroup, WorkloadRun } from "../workload/workload.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import { LawChecker } from "./laws.js";
import { Pulse } from "./pulse.js";
import { servedNothing } from "./served-nothing.js";
import type { ToolControl } from "./pulse.js";
import type { RunResult, ScenarioResult } from "./outcome.js";

const DEPTH: DigestDepth = "layout";

/** @public */
export interface RunWorkloadsOptions extends ToolControl {
  readonly workloads: Iterable<Workload | WorkloadGroup>;
  readonly start: StartAdapter;
}

/** Runs each workload to its end. @public */
export async function runWorkloads(options: RunWorkloadsOptions): Promise<RunResult> {
  const candidates: Candidate[] = [];
  const pulse = new Pulse(options);
  const results: ScenarioResult[] = [];
  const counters = new Map<string, number>();
  try {
    for (const workload of options.workloads) {
      const group = groupOf(workload);
      while (candidates.length < group.runs.length) candidates.push(new Candidate(options.start));
      const runs = group.runs.map((run, index) => new JudgedRun(run, candidates[index]!, pulse)); // one a run
      for (const run of runs) await run.open();
      await runGroup(group, runs, pulse);
      for (const run of runs) results.push(await run.close());
      pulse.runs += runs.length;
      for (const [name, count] of Object.entries(group.counters ?? {})) {
        counters.set(name, (counters.get(name) ?? 0) + count);
      }
    }
  } finally {
    for (const candidate of candidates) await candidate.dispose();
  }
  const isFailed = results.some(({ verdict }) => verdict === "failed");
  const sums = Object.fromEntries(counters);
  return {
    verdict: isFailed ? "failed" : servedNothing(sums) ? "incomplete" : "passed",
    scenarios: results,
    operations: pulse.operations,
    counters: sums,
    leftOut: 0,
  };
}

/** Stops where one run of the group ends early: the others would wait for it. */
async function runGroup(
  group: WorkloadGroup,
  runs: readonly JudgedRun[],
  pulse: Pulse,
): Promise<void> {
  let answer: Answer | null = null;
  for (let next = group.next(answer); next !== null; next = group.next(answer)) {
    answer = null;
    if ("mark" in next.step) continue;
    const run = runs[next.run];
    if (run === undefined) return;
    answer = await run.apply(next.step.operation);
    const isDue = pulse.count(1);
    if (answer === null) return;
    if (isDue) await pulse.breathe();
  }
}

/** One run with the laws that its answers must keep. */
class JudgedRun {
  readonly #run: WorkloadRun;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #laws = new LawChecker();
  #adapter: Adapter | null = null; // until it is open
  #operations = 0;
  #last = { n: 0, op: "boot" };
  #result: ScenarioResult | null = null; // it ended early

  constructor(run: WorkloadRun, candidate: Candidate, pulse: Pulse) {
    this.#run = run;
    this.#candidate = candidate;
    this.#pulse = pulse;
  }

  async open(): Promise<void> {
    const { run, config } = this.#run;
    this.#pulse.run = run;
    const { info } = await this.#candidate.ready();
    const digestDepth = givesDepth(info.digest, DEPTH) ? DEPTH : null;
    this.#adapter = await this.#candidate.open({ run, domain: "kv", config, digestDepth });
  }

  /** The answer to one operation, null where the run ends with it. */
  async apply(operation: Operation): Promise<Answer | null> {
    const adapter = this.#adapter;
    if (adapter === null) return null;
    this.#last = { n: this.#operations, op: operation.op };
    const { answers, failure } = await adapter.apply([operation]);
    this.#operations += 1;
    const answer = answers[0] ?? null;
    if (answer === null || failure !== null) {
      this.#pulse.throwIfInterrupted();
      return this.#end(failure === null ? "gave no answer" : `${failure.kind}: ${failure.message}`);
    }
    const { n, op } = this.#last;
    if (answer.err?.code === "unsupported") {
      const what = `${adapter.info.name} does not answer ${op} (operation ${n} of ${this.#run.run})`;
      throw new CandidateError("candidate_handshake", what);
    }
    if (op === "boot" && answer.err !== undefined) {
      const { code, rule } = answer.err;
      const why = rule === undefined ? code : `${code}, ${rule}`;
      const message = `boot is refused (${why}): nothing can be asked of this run`;
      return this.#end(message, "invalid");
    }
    const law = this.#laws.check(operation, answer);
    return law === null ? answer : this.#end(law.message);
  }

  /** What the run came to. One that broke is given up, its implementation with it. */
  async close(): Promise<ScenarioResult> {
    if (this.#result !== null) {
      await this.#candidate.dispose();
      return this.#result;
    }
    const { failure } = await this.#candidate.close();
    if (failure === null)
      return this.#resultOf({ verdict: "passed", n: null, op: null, message: null });
    const message = `${failure.kind}: ${failure.message}`;
    return this.#resultOf({ verdict: "failed", ...this.#last, message });
  }

  #end(message: string, verdict: "failed" | "invalid" = "failed"): null {
    this.#result = this.#resultOf({ verdict, ...this.#last, message });
    return null;
  }

  #resultOf(outcome: Pick<ScenarioResult, "verdict" | "n" | "op" | "message">): ScenarioResult {
    const { run: name } = this.#run;
    return { name, config: null, file: null, ...outcome, operations: this.#operations };
  }
}
