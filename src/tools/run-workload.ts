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
import { ofShard, type ShardPart } from "./shards.js";
import type { RunResult, ScenarioResult } from "./outcome.js";

const DEPTH: DigestDepth = "layout";

/** @public */
export interface RunWorkloadsOptions extends ToolControl {
  readonly workloads: Iterable<Workload | WorkloadGroup>;
  readonly start: StartAdapter;
  readonly shard?: ShardPart; // only the workloads of this part; each costs the same
  /** Asked before each workload and each operation: a workload that is under way then ends with the next request that is
   * served, and what comes behind it is left out. */
  readonly isTimeOver?: () => boolean;
}

/** Runs each workload to its end, or to where the time is over. @public */
export async function runWorkloads(options: RunWorkloadsOptions): Promise<RunResult> {
  const { isTimeOver = (): boolean => false } = options;
  const candidates: Candidate[] = [];
  const pulse = new Pulse(options);
  const results: ScenarioResult[] = [];
  const counters = new Map<string, number>();
  const all = [...options.workloads].map(groupOf);
  try {
    for (const group of partOf(all, options.shard)) {
      if (isTimeOver()) break;
      while (candidates.length < group.runs.length) candidates.push(new Candidate(options.start));
      const runs = group.runs.map((run, index) => new JudgedRun(run, candidates[index]!, pulse)); // one a run
      for (const run of runs) await run.open();
      const cut = await runGroup(group, runs, pulse, isTimeOver);
      for (const run of runs) results.push(await run.close(cut));
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
  const leftOut = all.reduce((sum, { runs }) => sum + runs.length, 0) - results.length;
  const isCut = leftOut > 0 || results.some(({ verdict }) => verdict === "incomplete");
  return {
    verdict: isFailed ? "failed" : isCut || servedNothing(sums) ? "incomplete" : "passed",
    scenarios: results,
    operations: pulse.operations,
    counters: sums,
    leftOut,
  };
}

function partOf(groups: readonly WorkloadGroup[], shard: ShardPart | undefined): WorkloadGroup[] {
  const pieces = groups.map((group) => ({ name: group.runs[0]?.run ?? "", cost: 1, group }));
  const own = new Set(shard === undefined ? pieces : ofShard(pieces, shard));
  return pieces.filter((piece) => own.has(piece)).map(({ group }) => group);
}

/**
 * Stops where one run of the group ends early: the others would wait for it.
 * @returns how far it came where the time was over before its end, else null
 */
async function runGroup(
  group: WorkloadGroup,
  runs: readonly JudgedRun[],
  pulse: Pulse,
  isTimeOver: () => boolean,
): Promise<string | null> {
  let answer: Answer | null = null;
  let servedBefore: number | null = null; // once the time is over
  for (let next = group.next(answer); next !== null; next = group.next(answer)) {
    if (isTimeOver()) {
      const { served, requests = 0, dropped = 0 } = group.counters ?? {};
      if (served === undefined) return "the time was over";
      servedBefore ??= served;
      const told = `${served} of ${requests - dropped} requests were served`;
      if (served > servedBefore) return `the time was over: ${told}`;
    }
    answer = null;
    if ("mark" in next.step) continue;
    const run = runs[next.run];
    if (run === undefined) return null;
    answer = await run.apply(next.step.operation);
    const isDue = pulse.count(1);
    if (answer === null) return null;
    if (isDue) await pulse.breathe();
  }
  return null;
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

  /**
   * What the run came to. One that broke is given up, its implementation with it.
   * @param cut - why it ends before its end, null: it does not
   */
  async close(cut: string | null): Promise<ScenarioResult> {
    if (this.#result !== null) {
      await this.#candidate.dispose();
      return this.#result;
    }
    const { failure } = await this.#candidate.close();
    if (failure === null && cut !== null)
      return this.#resultOf({ verdict: "incomplete", ...this.#last, message: cut });
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
