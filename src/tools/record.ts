// Runs workloads on an implementation and writes what it was asked and what it answered. A generator sees each answer
// before it gives the next operation, so operations go one by one.
import type { Adapter, AdapterFailure } from "../adapter/adapter.js";
import { CandidateError, UsageError } from "../base/errors.js";
import type {
  Answer,
  DigestDepth,
  DirectConfig,
  Operation,
  RunConfig,
} from "../base/operations.js";
import { deriveConfig, isModelConfig } from "../kv/build.js";
import { answerProblemOf } from "../trace/check.js";
import { bandsOf, missingComponents } from "../trace/digest-rules.js";
import { producerBlock } from "../trace/header.js";
import { runWords } from "../trace/run-words.js";
import type { RunWords } from "../trace/run-words.js";
import type { TraceWriter } from "../trace/writer.js";
import type { Workload } from "../workload/workload.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import type { RecordResult } from "./outcome.js";

/** @public */
export interface RecordOptions extends ToolControl {
  readonly workloads: Iterable<Workload>;
  readonly start: StartAdapter;
  readonly writer: TraceWriter; // left open; the caller commits or aborts
  readonly created?: string | null;
  readonly note?: string | null;
  readonly digestDepth: DigestDepth | null;
  readonly stateEvery?: number; // a full state after every N-th operation
  readonly intentFirst?: boolean; // a `call` line, flushed, before each call
  readonly checksAnswers?: boolean; // foreign code: an answer that the format does not know breaks a promise
}

/** Whether a serving workload dropped every request, so that a run with it shows nothing. @public */
export function servedNothing(counters: Readonly<Record<string, number>>): boolean {
  return (counters["requests"] ?? 0) > 0 && counters["served"] === 0;
}

/** Records every workload. A broken promise of the implementation ends it and is part of the result. @public */
export async function record(options: RecordOptions): Promise<RecordResult> {
  const recording = new Recording(options);
  try {
    return await recording.run();
  } finally {
    await recording.dispose();
  }
}

class Recording {
  readonly #options: RecordOptions;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #counters = new Map<string, number>();
  #depth: DigestDepth | null = null; // of the run at hand
  #words: RunWords | null = null; // likewise
  #hasComponents = false; // its boot was not refused
  #refusals = 0;
  #states = 0;
  #failure: RecordResult["failure"] = null;

  constructor(options: RecordOptions) {
    this.#options = options;
    this.#candidate = new Candidate(options.start);
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<RecordResult> {
    const { workloads, writer, created, note } = this.#options;
    const { info } = await this.#candidate.ready(); // one that cannot be started leaves no file
    // The answers are the implementation's. Without a commit nothing is known that its sources could differ from.
    const dirty = info.revision === null ? null : info.dirty;
    writer.header(producerBlock(info.name, info.version, info.revision, dirty), {
      created: created ?? null,
      note: note ?? null,
    });
    for (const workload of workloads) {
      await this.#record(workload);
      this.#pulse.runs += 1;
      for (const [name, count] of Object.entries(workload.counters ?? {})) {
        this.#counters.set(name, (this.#counters.get(name) ?? 0) + count);
      }
      if (this.#failure !== null || writer.closed) break;
    }
    if (this.#pulse.operations === 0 && this.#failure === null)
      throw new UsageError("nothing was selected to record");
    return {
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      refusals: this.#refusals,
      states: this.#states,
      failure: this.#failure,
      counters: Object.fromEntries(this.#counters),
    };
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
  }

  async #record(workload: Workload): Promise<void> {
    const { writer, digestDepth } = this.#options;
    const { run, config, source } = workload;
    this.#pulse.run = run;
    const adapter = await this.#candidate.ready();
    const depth = this.#depthOf(adapter, digestDepth);
    this.#depth = depth;
    await this.#candidate.open({ run, domain: "kv", config, digestDepth: depth });
    const derived = derivedOf(config);
    this.#words = runWords("kv", config, derived.derived);
    writer.run({ ...{ run, domain: "kv", config, source, digest_depth: depth }, ...derived });
    const count = await this.#operations(workload, adapter);
    if (count === null) return;
    const { digest, failure } = await this.#candidate.close();
    const isLacking = depth !== null && this.#hasComponents && digest === null;
    const fault = failure ?? (isLacking ? NO_END_DIGEST : null);
    if (fault !== null) this.#fail(run, Math.max(0, count - 1), "after", fault);
    else writer.end(run, count, depth === null ? null : digest);
  }

  // The number of operations, null when the implementation broke.
  async #operations(workload: Workload, adapter: Adapter): Promise<number | null> {
    const { writer, intentFirst } = this.#options;
    this.#hasComponents = false;
    let n = 0;
    let answer: Answer | null = null;
    for (;;) {
      const step = workload.next(answer);
      if (step === null || writer.closed) return n;
      if ("mark" in step) {
        writer.mark(n, step.mark);
        answer = null;
        continue;
      }
      if (intentFirst === true) {
        writer.call(n, step.operation);
        writer.flush();
      }
      const { answers, failure } = await adapter.apply([step.operation]);
      const given = answers[0];
      const fault = failure ?? this.#brokenPromise(step.operation, given);
      if (given === undefined || fault !== null) {
        this.#fail(workload.run, n, "at", fault ?? NO_ANSWER);
        return null;
      }
      this.#write(workload.run, n, step.operation, given);
      if (this.#isStateDue(n)) await this.#writeState(n, adapter);
      answer = given;
      n += 1;
      if (this.#pulse.count(1)) await this.#pulse.breathe();
      // nothing can be asked of a run that was refused at boot
      if (step.operation.op === "boot" && given.err !== undefined) return n;
    }
  }

  #write(run: string, n: number, operation: Operation, answer: Answer): void {
    if (answer.err?.code === "unsupported") {
      const what = `does not answer ${operation.op} (operation ${n} of run ${run})`;
      throw new CandidateError("candidate_handshake", `the implementation ${what}`);
    }
    if (answer.err !== undefined) this.#refusals += 1;
    // digests that were not asked for have no depth
    const told =
      this.#depth === null && answer.digest !== undefined ? answerWithout(answer) : answer;
    this.#options.writer.op(n, operation, told);
  }

  // What a reader of the trace would refuse, so that no recording holds it. An implementation that gives digests gives
  // all of them at boot: without one of them nobody could read the others.
  #brokenPromise({ op }: Operation, answer: Answer | undefined): AdapterFailure | null {
    if (answer === undefined) return null;
    if (this.#options.checksAnswers === true) {
      const problem = answerProblemOf(op, answer, this.#words);
      if (problem !== null) return broken(`the answer at ${problem.path}: ${problem.message}`);
    }
    if (op !== "boot" || answer.ok === undefined) return null;
    this.#hasComponents = true;
    if (this.#depth === null) return null;
    const missing = missingComponents(bandsOf(answer.ok as object), answer.digest);
    if (missing.length === 0) return null;
    const what = `operation 0 lists no digest of ${missing.join(", ")}`;
    return broken(`${what}, though digests of depth ${this.#depth} were asked for`);
  }

  #isStateDue(n: number): boolean {
    const every = this.#options.stateEvery;
    return every !== undefined && (n + 1) % every === 0;
  }

  async #writeState(n: number, adapter: Adapter): Promise<void> {
    const state = await adapter.state();
    if (state === null) {
      throw new UsageError("--state: this implementation gives no full state; leave the flag out");
    }
    this.#options.writer.state(n, state);
    this.#states += 1;
  }

  #depthOf(adapter: Adapter, wanted: DigestDepth | null): DigestDepth | null {
    if (wanted === null || givesDepth(adapter.info.digest, wanted)) return wanted;
    return adapter.info.digest;
  }

  #fail(run: string, n: number, place: "at" | "after", failure: AdapterFailure): void {
    this.#pulse.throwIfInterrupted();
    this.#failure = { run, n, place, failure };
  }
}

/** The direct form that a model form comes to; nothing where it is direct already or boot will refuse it. */
function derivedOf(config: RunConfig): { readonly derived?: DirectConfig } {
  if (!isModelConfig(config)) return {};
  const derived = deriveConfig(config);
  return "refusal" in derived ? {} : { derived: derived.derived };
}

function answerWithout({ digest: _digest, ...bare }: Answer): Answer {
  return bare;
}

function broken(message: string): AdapterFailure {
  return { kind: "protocol", message };
}

const NO_ANSWER = broken("gave no answer");
const NO_END_DIGEST = broken("gave no digest at the end of a run with digests");
