// One run of a recording: what an implementation was asked and what it answered, line by line.
import type { Adapter, AdapterFailure } from "../adapter/adapter.js";
import { CandidateError, UsageError } from "../base/errors.js";
import type {
  Answer,
  DigestDepth,
  DirectConfig,
  Operation,
  RunConfig,
} from "../base/operations.js";
import type { State } from "../base/state.js";
import { deriveConfig, isModelConfig } from "../kv/build.js";
import { answerProblemOf } from "../trace/check.js";
import { bandsOf, missingComponents } from "../trace/digest-rules.js";
import { runWords } from "../trace/run-words.js";
import type { RunWords } from "../trace/run-words.js";
import type { WorkloadRun } from "../workload/workload.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { RecordResult } from "./outcome.js";
import type { Pulse } from "./pulse.js";
import type { RecordOptions } from "./record-options.js";
import { RecordSpill } from "./record-spill.js";
import { RecordTail } from "./record-tail.js";
import type { RunSink } from "./record-tail.js";

/** What a recording asks of each of its runs. @internal */
export type RunRecordingOptions = Pick<
  RecordOptions,
  "digestDepth" | "stateEvery" | "intentFirst" | "checksAnswers" | "last" | "openSpill" | "start"
>;

/** @internal */
export class RunRecording {
  readonly #run: WorkloadRun;
  readonly #candidate: Candidate;
  readonly #writer: RunSink;
  readonly #tail: RecordTail | null; // where only the last operations are kept
  readonly #options: RunRecordingOptions;
  readonly #pulse: Pulse;
  #depth: DigestDepth | null = null;
  #words: RunWords | null = null;
  #adapter: Adapter | null = null; // until it is open
  #hasComponents = false; // its boot was not refused
  #n = 0;
  refusals = 0;
  states = 0;
  failure: RecordResult["failure"] = null;
  isRefused = false; // at boot

  constructor(
    run: WorkloadRun,
    candidate: Candidate,
    writer: RunSink,
    options: RunRecordingOptions,
    pulse: Pulse,
  ) {
    this.#run = run;
    this.#candidate = candidate;
    const { last, openSpill } = options;
    const spill = openSpill === undefined ? null : new RecordSpill(openSpill);
    this.#tail = last === undefined ? null : new RecordTail(writer, last, spill);
    this.#writer = this.#tail ?? writer;
    this.#options = options;
    this.#pulse = pulse;
  }

  /** Operations answered so far. */
  get operations(): number {
    return this.#n;
  }
  /** Operations written, once the run is settled. */
  get kept(): number {
    return this.#tail?.kept ?? this.#n;
  }

  async open(): Promise<void> {
    const { run, config, source } = this.#run;
    this.#pulse.run = run;
    const adapter = await this.#candidate.ready();
    const wanted = this.#options.digestDepth;
    const gives = wanted === null || givesDepth(adapter.info.digest, wanted);
    const depth = gives ? wanted : adapter.info.digest;
    this.#depth = depth;
    this.#adapter = await this.#candidate.open({ run, domain: "kv", config, digestDepth: depth });
    const derived = derivedOf(config);
    this.#words = runWords("kv", config, derived.derived);
    this.#writer.run({ ...{ run, domain: "kv", config, source, digest_depth: depth }, ...derived });
  }

  mark(text: string): void {
    this.#writer.mark(this.#n, text);
  }

  /** The answer to one operation, null when the implementation broke. */
  async apply(operation: Operation): Promise<Answer | null> {
    const adapter = this.#adapter;
    if (adapter === null) return null;
    if (this.#options.intentFirst === true) {
      this.#writer.call(this.#n, operation);
      this.#writer.flush();
    }
    const { answers, failure } = await adapter.apply([operation]);
    const given = answers[0];
    const fault = failure ?? this.#brokenPromise(operation, given);
    if (given === undefined || fault !== null) {
      this.#fail(this.#n, "at", fault ?? NO_ANSWER);
      return null;
    }
    this.#write(operation, given);
    const every = this.#options.stateEvery;
    if (every !== undefined && (this.#n + 1) % every === 0) await this.#writeState(adapter);
    if (this.#tail?.wants(this.#n) === true)
      this.#tail.checkpoint(this.#n, await this.#stateOf(adapter, "--last"));
    this.#n += 1;
    this.isRefused = operation.op === "boot" && given.err !== undefined;
    return given;
  }

  /** Writes what is kept of a run of which only the last operations are: before its end, or once it broke. */
  async settle(): Promise<void> {
    await this.#tail?.settle((state, operations) => this.#behind(state, operations));
  }

  /** Lets go of what is kept on the disk beside the trace: it stands there, or nobody wants it. */
  dispose(): void {
    this.#tail?.dispose();
  }

  async close(): Promise<void> {
    const { digest, failure } = await this.#candidate.close();
    const isLacking = this.#depth !== null && this.#hasComponents && digest === null;
    const fault = failure ?? (isLacking ? NO_END_DIGEST : null);
    if (fault !== null) this.#fail(Math.max(0, this.#n - 1), "after", fault);
    else this.#writer.end(this.#run.run, this.#n, this.#depth === null ? null : digest);
  }

  #write(operation: Operation, answer: Answer): void {
    if (answer.err?.code === "unsupported") {
      const what = `does not answer ${operation.op} (operation ${this.#n} of run ${this.#run.run})`;
      throw new CandidateError("candidate_handshake", `the implementation ${what}`);
    }
    if (answer.err !== undefined) this.refusals += 1;
    // digests that were not asked for have no depth
    const told =
      this.#depth === null && answer.digest !== undefined ? answerWithout(answer) : answer;
    this.#writer.op(this.#n, operation, told);
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

  async #writeState(adapter: Adapter): Promise<void> {
    this.#writer.state(this.#n, await this.#stateOf(adapter, "--state"));
    this.states += 1;
  }

  async #stateOf(adapter: Adapter, flag: string): Promise<State> {
    const state = await adapter.state();
    if (state !== null) return state;
    throw new UsageError(`${flag}: this implementation gives no full state; leave the flag out`);
  }

  /** The state that another start of the implementation has behind a state and a few operations. */
  async #behind(state: State | null, operations: readonly Operation[]): Promise<State | null> {
    const { run, config } = this.#run;
    const other = new Candidate(this.#options.start);
    try {
      const { info } = await other.ready();
      if (state !== null && !info.fromState) return null;
      const opening = { run, domain: "kv", config, digestDepth: null } as const;
      const adapter = await other.open(state === null ? opening : { ...opening, state });
      const { failure } = await adapter.apply(operations);
      return failure === null ? await adapter.state() : null;
    } finally {
      await other.dispose();
    }
  }

  #fail(n: number, place: "at" | "after", failure: AdapterFailure): void {
    this.#pulse.throwIfInterrupted();
    this.failure = { run: this.#run.run, n, place, failure };
  }
}

/** The direct form that a model form comes to; nothing where it is direct already or boot will refuse it. @internal */
export function derivedOf(config: RunConfig): { readonly derived?: DirectConfig } {
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
