// The serving model: a scheduler driven by a request trace. Continuous batching, chunked prefill before decode, one
// forward of overlap, window retirement, and retraction of the newest request when a take is refused. Time is
// logical: a step is one forward, and arrivals are mapped to steps by a fixed rate.
import type {
  Answer,
  DirectConfig,
  ExtendEntry,
  KvOperation,
  RetiredWindow,
  RunConfig,
} from "../base/operations.js";
import type { ServingParameters } from "./configs.js";
import { NameSource } from "./names.js";
import type { RequestTrace, TracedRequest } from "./request-trace.js";
import type { DropReason, InFlight, Job } from "./serving-jobs.js";
import { newJob, reasonToDrop, restart } from "./serving-jobs.js";
import type { PrefillEntry } from "./serving-queue.js";
import { ServingQueue } from "./serving-queue.js";
import type { RunSource, Workload, WorkloadStep } from "./workload.js";

/** @public */
export interface ServingOptions {
  readonly trace: RequestTrace;
  readonly config: DirectConfig; // what the scheduler knows of the memory
  readonly form?: RunConfig; // what runs, where that is the model form that `config` was derived from
  readonly configName: string; // stands in the run id `CONFIG/LAYOUT/pPS/TRACE`
  readonly layout: string;
  readonly pageSize: number; // tokens
  readonly limit?: number; // requests of the trace that are used, default all
  readonly serving?: Partial<ServingParameters>;
}

/** The figures where a configuration gives none. @public */
export const SERVING_DEFAULTS: ServingParameters = {
  batch: 64,
  chunk: 8192,
  decode_tokens: 1,
  retire_tokens: 64,
  steps_per_second: 10,
};

/** A workload of one run; the same trace, configuration and answers give the same operations. @public */
export function servingWorkload(options: ServingOptions): Workload {
  return new ServingRun(options);
}

type Script = Generator<KvOperation, void, Answer>;
type Take = Generator<KvOperation, boolean, Answer>;

class ServingRun implements Workload {
  readonly run: string;
  readonly config: RunConfig;
  readonly source: RunSource;
  readonly counters: Record<string, number> = {
    requests: 0,
    served: 0,
    dropped: 0,
    steps: 0,
    prefill_tokens: 0,
    decode_tokens: 0,
    refusals: 0,
    retractions: 0,
    idle_times: 0,
  };
  readonly #direct: DirectConfig;
  readonly #serving: ServingParameters;
  readonly #inputs = new Map<string, number>(); // request name → tokens of its input
  readonly #queue: ServingQueue;
  readonly #windows: readonly { readonly name: string; readonly window: number }[];
  readonly #hasState: boolean;
  readonly #forwardNames = new NameSource("f");
  readonly #script: Script;
  #inFlight: InFlight | null = null;
  #refusedWhenIdle: Job | null = null;
  #step = 0;

  constructor(options: ServingOptions) {
    const { trace, config, form, configName, layout, pageSize, limit, serving } = options;
    const seed = trace.seed === null ? "" : `-${String(trace.seed)}`;
    this.run = `${configName}/${layout}/p${String(pageSize)}/${trace.name}${seed}`;
    this.config = form ?? config;
    this.#direct = config;
    const figures = { ...SERVING_DEFAULTS, ...serving };
    this.#serving = { ...figures, batch: Math.min(figures.batch, config.rows) };
    const requests = trace.requests.slice(0, limit);
    this.source = {
      type: "workload",
      name: trace.name,
      ...(trace.seed === null ? {} : { seed: trace.seed }),
      config: configName,
      requests: requests.length,
      ...this.#serving,
    };
    this.#windows = config.sub_pools.flatMap(({ name, window }) =>
      typeof window === "number" ? [{ name, window }] : [],
    );
    this.#hasState = config.sub_pools.some((pool) => pool.kind === "state");
    const { batch, chunk } = this.#serving;
    this.#queue = new ServingQueue(this.#accept(requests), batch, chunk);
    this.#script = this.#serve();
  }

  next(answer: Answer | null): WorkloadStep | null {
    // The first call starts the script, which takes no answer; every later one has the answer to what it yielded.
    const { done, value } = this.#script.next(answer ?? {});
    return done === true ? null : { operation: value };
  }

  /** Jobs for the requests that can be served at all; the others are counted under a reason. */
  #accept(requests: readonly TracedRequest[]): Job[] {
    const jobs: Job[] = [];
    for (const [index, request] of requests.entries()) {
      this.#count("requests");
      const reason = reasonToDrop(request, this.#direct, this.#serving);
      const job = newJob(request, index, this.#serving.steps_per_second, this.#windows.length);
      this.#inputs.set(job.name, request.input);
      if (reason === null) jobs.push(job);
      else this.#drop(reason);
    }
    return jobs;
  }

  #drop(reason: DropReason): void {
    this.#count("dropped");
    this.#count(`dropped_${reason}`);
  }
  #count(what: string, by = 1): void {
    this.counters[what] = (this.counters[what] ?? 0) + by;
  }

  *#serve(): Script {
    yield { op: "boot", args: {} };
    for (;;) {
      this.#queue.arrive(this.#step);
      const isPrefill = this.#queue.continuing !== null || this.#queue.mayAdmit;
      if (isPrefill && this.#inFlight?.isPrefill === true) {
        // Two prefills in a row do not overlap: the result first, then the quiet moment to compact.
        yield* this.#processPrevious();
        yield { op: "chain.flush", args: {} };
      }
      const launched = (isPrefill ? yield* this.#prefill() : null) ?? (yield* this.#decode());
      if (launched === null) {
        if (this.#inFlight !== null) yield* this.#processPrevious();
        else if (!(yield* this.#idle())) break;
        continue;
      }
      this.#step += 1;
      this.#refusedWhenIdle = null;
      this.#count("steps");
      const previous = this.#inFlight;
      yield { op: "forward.barrier", args: { step: launched.step } };
      if (previous !== null) yield* this.#process(previous);
      this.#inFlight = launched;
    }
    yield { op: "chain.flush", args: {} };
    yield { op: "chain.flush", args: {} };
    yield { op: "check.idle", args: {} };
  }

  /** Nothing runs: a flush and a look, then on to the next arrival. False where there is none. */
  *#idle(): Take {
    const queue = this.#queue;
    queue.isFull = false;
    const { front } = queue;
    if (front !== undefined) {
      // Refused on an empty arena, and once more: it will never be served.
      const isHopeless = this.#refusedWhenIdle === front;
      if (isHopeless) queue.dropFront();
      if (isHopeless) this.#drop("outgrew_arena");
      this.#refusedWhenIdle = isHopeless ? null : front;
      return true;
    }
    const next = queue.nextArrival;
    if (next === null) return false;
    this.#count("idle_times");
    yield { op: "chain.flush", args: {} };
    yield { op: "check.idle", args: {} };
    this.#step = Math.max(this.#step, next);
    return true;
  }

  /** Launches a prefill batch; null where nobody got memory for it. */
  *#prefill(): Generator<KvOperation, InFlight | null, Answer> {
    let entries: readonly PrefillEntry[] = this.#queue.choosePrefill();
    const newcomers = entries.filter(({ job }) => job.allocated === 0).map(({ job }) => job);
    const admitted = new Set(yield* this.#openRows(newcomers));
    entries = entries.filter(({ job }) => job.allocated > 0 || admitted.has(job));
    for (const { job } of entries) yield* this.#retire(job, 1);
    while (entries.length > 0) {
      const batch = entries.map(({ job, tokens }) => ({
        req: job.name,
        from: job.allocated,
        to: job.allocated + tokens,
      }));
      if (yield* this.#take({ op: "tokens.extend", args: { batch } })) break;
      if (!(yield* this.#giveWay())) return null;
      entries = entries.filter(({ job }) => this.#queue.running.includes(job));
    }
    if (entries.length === 0) return null;
    this.#queue.continuing = null;
    for (const { job, tokens } of entries) {
      job.allocated += tokens;
      this.#count("prefill_tokens", tokens);
      if (job.allocated < job.prompt) this.#queue.continuing = job;
    }
    return yield* this.#launch(
      entries.map(({ job }) => job),
      "extend",
    );
  }

  /** Gives newcomers rows and state slots; those that got them, in order. The rest stay at the queue's front. */
  *#openRows(newcomers: readonly Job[]): Generator<KvOperation, Job[], Answer> {
    const opened: Job[] = [];
    if (newcomers.length === 0) return opened;
    const rows = { op: "row.alloc", args: { reqs: newcomers.map((job) => job.name) } } as const;
    if (!(yield* this.#take(rows))) return opened;
    for (const job of newcomers) {
      const slot = {
        op: "state.alloc",
        args: { req: job.name, count: 1, purpose: "main" },
      } as const;
      if (this.#queue.isFull || (this.#hasState && !(yield* this.#take(slot)))) {
        yield { op: "row.free", args: { req: job.name } };
        continue;
      }
      opened.push(job);
      this.#queue.admitFront();
    }
    return opened;
  }

  /**
   * Launches a decode batch of all that run; null where nothing does. The token that is due is taken by
   * `tokens.decode`, room for those that the same forward decodes after it by one `tokens.extend`.
   */
  *#decode(): Generator<KvOperation, InFlight | null, Answer> {
    for (const job of this.#queue.running) yield* this.#retire(job, this.#serving.retire_tokens);
    const due = (job: Job): { req: string; len: number } => ({
      req: job.name,
      len: job.allocated + 1,
    });
    if (
      !(yield* this.#grow(1, (jobs) => ({ op: "tokens.decode", args: { batch: jobs.map(due) } })))
    )
      return null;
    const ahead = this.#serving.decode_tokens - 1;
    const room = ({ name, allocated }: Job): ExtendEntry => ({
      req: name,
      from: allocated,
      to: allocated + ahead,
    });
    const isGrown =
      ahead === 0 ||
      (yield* this.#grow(ahead, (jobs) => ({
        op: "tokens.extend",
        args: { batch: jobs.map(room) },
      })));
    return isGrown ? yield* this.#launch([...this.#queue.running], "decode") : null;
  }

  /** Takes tokens for all that run, the newest giving way until it is granted. False where nobody is left. */
  *#grow(tokens: number, take: (jobs: readonly Job[]) => KvOperation): Take {
    for (;;) {
      if (!this.#queue.isRunning) return false;
      if (yield* this.#take(take(this.#queue.running))) break;
      if (!(yield* this.#giveWay())) return false;
    }
    for (const job of this.#queue.running) job.allocated += tokens;
    this.#count("decode_tokens", tokens * this.#queue.running.length);
    return true;
  }

  *#launch(
    jobs: readonly Job[],
    mode: "extend" | "decode",
  ): Generator<KvOperation, InFlight, Answer> {
    const step = this.#forwardNames.fresh();
    const batch = jobs.map((job) => ({ req: job.name, from: job.computed, to: job.allocated }));
    yield { op: "forward.launch", args: { step, batch, mode } };
    yield { op: "forward.record", args: { step, writes: "known" } };
    const entries = jobs.map((job) => {
      // The chunk that ends a prompt gives the first token.
      const tokens =
        mode === "decode" ? job.allocated - job.computed : job.allocated < job.prompt ? 0 : 1;
      job.computed = job.allocated;
      return { job, attempt: job.attempt, tokens };
    });
    return { step, isPrefill: mode === "extend", entries };
  }

  *#take(operation: KvOperation): Take {
    const answer = yield operation;
    if (answer.err === undefined) return true;
    this.#count("refusals");
    this.#queue.isFull = true;
    return false;
  }

  /**
   * A take was refused: the newest of those running goes back to the queue's front. Alone, it first gets what the
   * forward in flight holds back, and is dropped if even that does not do. False where nobody is left.
   */
  *#giveWay(): Take {
    const isAlone = this.#queue.running.length === 1;
    if (isAlone && this.#inFlight !== null) {
      yield* this.#processPrevious();
      return this.#queue.isRunning;
    }
    const job = this.#queue.popNewest();
    if (job === undefined) return false;
    yield { op: "request.retract", args: { req: job.name } };
    if (isAlone) {
      this.#drop("outgrew_arena");
      return false;
    }
    this.#count("retractions");
    restart(job, this.#inputs.get(job.name) ?? 0);
    this.#queue.pushFront(job);
    return true;
  }

  /** Retires windows once `least` tokens (a page at least) lie behind them. */
  *#retire(job: Job, least: number): Script {
    const pageSize = this.#direct.page_size;
    const isDue = this.#windows.some(({ window }, index) => {
      const behind = job.computed - window - (job.cursors[index] ?? 0);
      return behind >= Math.max(pageSize, least);
    });
    if (!isDue) return;
    const answer = yield { op: "window.retire", args: { req: job.name, len: job.computed } };
    const retired = (answer.ok ?? {}) as Readonly<Record<string, RetiredWindow>>;
    for (const [index, { name }] of this.#windows.entries()) {
      job.cursors[index] = retired[name]?.cursor ?? job.cursors[index] ?? 0;
    }
  }

  *#processPrevious(): Script {
    const previous = this.#inFlight;
    this.#inFlight = null;
    if (previous !== null) yield* this.#process(previous);
  }

  /** Takes in a result: requests that ended are freed, in a group where there are several; then the forward is done. */
  *#process({ step, entries }: InFlight): Script {
    const ended: Job[] = [];
    for (const { job, attempt, tokens } of entries) {
      if (job.attempt !== attempt || !this.#queue.running.includes(job)) continue;
      job.generated = Math.min(job.output, job.generated + tokens);
      if (job.generated === job.output) ended.push(job);
    }
    if (ended.length > 1) yield { op: "group.begin", args: {} };
    for (const job of ended) {
      const len = Math.min(job.allocated, (this.#inputs.get(job.name) ?? 0) + job.output);
      yield { op: "request.finish", args: { req: job.name, len, insert: false } };
      this.#queue.end(job);
      this.#count("served");
    }
    if (ended.length > 1) yield { op: "group.end", args: {} };
    yield { op: "forward.process", args: { step } };
  }
}
