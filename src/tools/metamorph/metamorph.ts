// Rewrites the runs of a trace in ways whose outcome is known, replays both forms on one implementation, and holds the
// answers against each other by the rule of the rewrite.
import type { AdapterFailure } from "../../adapter/adapter.js";
import { CandidateError, type UnifiedTraceError } from "../../base/errors.js";
import type { Answer, KvOperation, RunConfig } from "../../base/operations.js";
import { Prng } from "../../base/prng.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { Candidate, givesDepth } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { DigestPair } from "../digests.js";
import type { Finding } from "../findings.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { Pool } from "../shrink/pool.js";
import { runsOf } from "../trace-runs.js";
import type { TraceRun } from "../trace-runs.js";
import type { AnsweredRun, Rewrite, Rewritten } from "./rewrite-types.js";
import { varyQuestions, varyRefusals, varyTimes } from "./rewrites-exact.js";
import { putPairIn, splitBatches, swapNeighbours } from "./rewrites-placement.js";
import { renameHashes, renameNames } from "./rewrites-words.js";
import { firstDifference, inWords, joined } from "./rules.js";

/** @public */
export type RewriteName =
  "names" | "hashes" | "questions" | "refusals" | "times" | "pair" | "batch" | "swap";

const REWRITES: Readonly<Record<RewriteName, Rewrite>> = {
  names: renameNames,
  hashes: renameHashes,
  questions: varyQuestions,
  refusals: varyRefusals,
  times: varyTimes,
  pair: putPairIn,
  batch: splitBatches,
  swap: swapNeighbours,
};

/** Every rewrite, in the order in which they are tried. @public */
export const REWRITE_NAMES: readonly RewriteName[] = Object.keys(REWRITES) as RewriteName[]; // its keys

/** @public */
export interface MetamorphOptions extends ToolControl {
  readonly trace: string;
  readonly start: StartAdapter;
  readonly run?: string;
  readonly rewrites?: readonly RewriteName[];
  readonly seeds?: Iterable<number>; // default 0; gone through for each run
  readonly jobs?: number; // rewritten runs replayed at once
  readonly shard?: { readonly index: number; readonly of: number }; // each `of`-th run, from the `index`-th on
  readonly isTimeOver?: () => boolean;
  readonly reader?: ReaderOptions;
}

/** A rewritten run whose answers break the rule; `n` of the finding is the operation of the run as it was. @public */
export interface MetamorphFinding extends Finding {
  readonly run: string;
  readonly rewrite: RewriteName;
  readonly seed: number;
  readonly at: number; // operation of the rewritten run
}

/** @public */
export interface MetamorphResult {
  readonly verdict: "passed" | "failed" | "incomplete";
  readonly runs: number;
  readonly rewritten: number; // runs replayed after a rewrite
  readonly operations: number; // compared
  readonly applied: Readonly<Record<string, number>>; // rewritten runs by rewrite
  readonly findings: readonly MetamorphFinding[];
  readonly notes: readonly string[]; // why it is incomplete
  readonly error: UnifiedTraceError | null; // what ended it early
}

/** @public */
export async function metamorph(options: MetamorphOptions): Promise<MetamorphResult> {
  const tool = new Metamorph(options);
  try {
    return await tool.run();
  } finally {
    await tool.dispose();
  }
}

interface Task {
  readonly run: string;
  readonly config: RunConfig;
  readonly base: AnsweredRun;
  readonly rewrite: RewriteName;
  readonly seed: number;
}

interface Replayed extends AnsweredRun {
  readonly failure: AdapterFailure | null;
}

class Metamorph {
  readonly #options: MetamorphOptions;
  readonly #pool: Pool<Candidate>;
  readonly #pulse: Pulse;
  readonly #findings: MetamorphFinding[] = [];
  readonly #applied: Record<string, number> = {};
  readonly #notes: string[] = [];
  #rewritten = 0;
  #operations = 0;

  constructor(options: MetamorphOptions) {
    this.#options = options;
    this.#pool = new Pool(() => new Candidate(options.start));
    this.#pulse = new Pulse(options);
  }

  async dispose(): Promise<void> {
    await this.#pool.dispose((candidate) => candidate.dispose());
  }

  async run(): Promise<MetamorphResult> {
    const { rewrites, shard } = this.#options;
    for (const name of rewrites ?? REWRITE_NAMES) this.#applied[name] = 0;
    const error = await this.#pulse.endOf(() => this.#runAll());
    if (this.#rewritten === 0) this.#notes.push("nothing could be rewritten");
    const isIncomplete = this.#notes.length > 0 || shard !== undefined || error !== null;
    return {
      verdict: this.#findings.length > 0 ? "failed" : isIncomplete ? "incomplete" : "passed",
      runs: this.#pulse.runs,
      rewritten: this.#rewritten,
      operations: this.#operations,
      applied: this.#applied,
      findings: this.#findings,
      notes: this.#notes,
      error,
    };
  }

  async #runAll(): Promise<void> {
    const { trace, run, reader, shard, isTimeOver, rewrites, seeds } = this.#options;
    let index = 0;
    for await (const traced of runsOf(trace, run ?? null, reader ?? {})) {
      const isOurs = shard === undefined || index % shard.of === shard.index - 1;
      index += 1;
      if (!isOurs) continue;
      if (isTimeOver?.() === true) {
        this.#notes.push(`the time budget ended before run ${traced.line.run}`);
        break;
      }
      this.#pulse.run = traced.line.run;
      await this.#runOne(traced, rewrites ?? REWRITE_NAMES, seeds ?? [0]);
      this.#pulse.runs += 1;
    }
  }

  async #runOne(
    { line, ops }: TraceRun,
    rewrites: readonly RewriteName[],
    seeds: Iterable<number>,
  ): Promise<void> {
    const { run, config } = line;
    const base = await this.#replay(config, ops);
    if (base === null || base.failure !== null) {
      const why = base?.failure?.message ?? "the implementation does not answer it";
      this.#notes.push(`run ${run} is left out: ${why}`);
      return;
    }
    const tasks = (function* (): Generator<Task> {
      for (const seed of seeds)
        for (const rewrite of rewrites) yield { run, config, base, rewrite, seed };
    })();
    const jobs = this.#options.jobs ?? 1;
    for (let batch = next(tasks, jobs); batch.length > 0; batch = next(tasks, jobs)) {
      if (this.#options.isTimeOver?.() === true) {
        this.#notes.push(`the time budget ended inside run ${run}`);
        return;
      }
      // findings in the order of the tasks, however many run at once
      const found = await Promise.all(batch.map((task) => this.#try(task)));
      this.#findings.push(...found.filter((finding) => finding !== null));
      await this.#pulse.breathe();
    }
  }

  async #try(task: Task): Promise<MetamorphFinding | null> {
    const { base, rewrite, seed, config } = task;
    const prng = new Prng(seed, REWRITE_NAMES.indexOf(rewrite));
    const rewritten = REWRITES[rewrite](base, prng);
    if (rewritten === null) return null;
    const ops = rewritten.steps.map(({ operation }) => operation);
    const replayed = await this.#replay(config, ops);
    if (replayed === null) return null;
    this.#applied[rewrite] = (this.#applied[rewrite] ?? 0) + 1;
    this.#rewritten += 1;
    this.#operations += replayed.answers.length;
    const { answers, failure } = replayed;
    const finding = judge(base, rewritten, answers) ?? broken(rewritten, answers.length, failure);
    return finding === null ? null : { ...finding, run: task.run, rewrite, seed };
  }

  /** Null where the implementation lacks an operation or the configuration. */
  #replay(config: RunConfig, ops: readonly KvOperation[]): Promise<Replayed | null> {
    return this.#pool.use(async (candidate) => {
      try {
        const adapter = await candidate.ready();
        const digestDepth = givesDepth(adapter.info.digest, "layout") ? "layout" : null;
        await candidate.open({ run: "metamorph", domain: "kv", config, digestDepth });
        const { answers, failure } = await adapter.apply(ops);
        this.#pulse.count(answers.length);
        this.#pulse.throwIfInterrupted();
        if (failure !== null) await candidate.dispose();
        const closed = failure === null ? await candidate.close() : null;
        return { ops, answers, failure: failure ?? closed?.failure ?? null };
      } catch (thrown) {
        this.#pulse.throwIfInterrupted();
        if (!(thrown instanceof CandidateError)) throw thrown;
        await candidate.dispose();
        return null;
      }
    });
  }
}

/** Up to `count` more of them. */
function next<T>(items: Iterator<T>, count: number): T[] {
  const taken: T[] = [];
  while (taken.length < count) {
    const item = items.next();
    if (item.done === true) break;
    taken.push(item.value);
  }
  return taken;
}

type Found = Finding & { readonly at: number };

function broken(rewritten: Rewritten, at: number, failure: AdapterFailure | null): Found | null {
  if (failure === null) return null;
  const step = rewritten.steps[Math.min(at, rewritten.steps.length - 1)];
  const op = step?.operation.op ?? "boot";
  const signature = { check: failure.kind, op, component: null };
  return { signature, n: step?.origin ?? at, at, message: failure.message };
}

/** The first broken rule of a rewritten run. */
function judge(base: AnsweredRun, rewritten: Rewritten, answers: readonly Answer[]): Found | null {
  const digests = new DigestPair();
  const { steps, rule, words } = rewritten;
  let parts: Answer[] = [];
  let seen = -1; // last operation of the run as it was that both have answered
  for (const [at, { operation, origin, part }] of steps.entries()) {
    const given = answers[at];
    if (given === undefined) return null; // it broke before; that is told on its own
    const answer = words === undefined ? given : inWords(given, words);
    const found = (path: string, left: unknown, right: unknown): Found => {
      const message = `${path}: ${shown(left)} as it was, ${shown(right)} rewritten`;
      const check = path.startsWith("/state")
        ? "state"
        : path.startsWith("/fx")
          ? "effect"
          : "answer";
      const component = check === "state" ? path.slice("/state/".length) : null;
      return { signature: { check, op: operation.op, component }, n: origin ?? seen, at, message };
    };
    const right = origin === null ? undefined : base.answers[origin];
    if (part === "part") {
      parts.push(answer);
      if (steps[at + 1]?.origin === origin && steps[at + 1]?.part === "part") continue;
    }
    const whole = part === "part" ? joined(parts) : answer;
    parts = [];
    const original = origin === null ? undefined : base.ops[origin];
    if (right !== undefined && original !== undefined) {
      const difference = firstDifference(rule, original, right, whole);
      if (difference !== null) return found(difference.path, difference.base, difference.got);
    }
    if (rule === "exact") {
      const isNew = origin === null || part === "again";
      // a question or refusal that was left out must have changed nothing, so only values count
      if (!digests.agree(isNew ? undefined : right?.digest, answer.digest)) {
        const [first] = digests.differences();
        return found(`/state/${first?.component ?? ""}`, first?.base, first?.candidate);
      }
    }
    if (origin !== null) seen = Math.max(seen, origin);
  }
  return null;
}

function shown(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
