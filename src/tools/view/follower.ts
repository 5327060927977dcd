// An implementation that follows the recorded operations of one run, so that its state stands for the run's: it is held
// against the record on the way, and says where it first answers otherwise.
import type { AdapterFailure, AdapterInfo } from "../../adapter/adapter.js";
import { CandidateError } from "../../base/errors.js";
import type { Answer, Digests, Operation } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type { OpLine, RunLine, StateLine } from "../../trace/lines.js";
import { answerOf } from "../answered-line.js";
import { Candidate, givesDepth, type StartAdapter } from "../candidate.js";
import type { Pulse } from "../pulse.js";

/** Where a follower did something else than the record for the first time. @public */
export interface Parting {
  readonly n: number;
  readonly op: string;
  readonly what: "answer" | "digest" | "failure";
  readonly message: string | null; // of a failure
}

/** Where a follower may begin: behind operation `state.n`. @internal */
export type StartingPoint = StateLine | null;

const BATCH = 256;

/** @internal */
export class Follower {
  readonly spec: string;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  #run: RunLine | null = null;
  #info: AdapterInfo | null = null;
  #parts = { fx: true, digest: true };
  #recorded: Digests = {};
  #own: Digests = {};
  /** The operation applied last; one less than the first one where nothing was applied yet. */
  n = -1;
  /** Where this opening began. */
  startedAfter = -1;
  /** Operations applied, over all openings. */
  applied = 0;
  parting: Parting | null = null;
  failure: AdapterFailure | null = null;
  /** Called with every answer, in order. */
  onAnswer: (line: OpLine, answer: Answer) => void = () => undefined;

  constructor(spec: string, start: StartAdapter, pulse: Pulse) {
    this.spec = spec;
    this.#candidate = new Candidate(start);
    this.#pulse = pulse;
  }

  /** Whether the run is open and can go on. */
  get isOpen(): boolean {
    return this.#run !== null && this.failure === null;
  }

  /** Whether digests are held against the record as well. */
  get comparesDigests(): boolean {
    return this.#parts.digest;
  }

  /** Whether it can begin at a state instead of the first operation. */
  async startsFromStates(): Promise<boolean> {
    return (await this.#candidate.ready()).info.fromState;
  }

  /**
   * Opens the run at its beginning or behind a state. Throws `CandidateError` where the implementation does not take the
   * domain, the configuration or the state.
   */
  async open(run: RunLine, from: StartingPoint): Promise<void> {
    const { info } = await this.#candidate.ready();
    this.#info = info;
    const { domain, config } = run;
    if (!info.domains.includes(domain)) {
      const what = `${info.name} does not answer domain ${domain} of run ${run.run}`;
      throw new CandidateError("candidate_handshake", what);
    }
    if (from !== null && !info.fromState) {
      const what = `${info.name} cannot start run ${run.run} from a state`;
      throw new CandidateError("candidate_handshake", what);
    }
    const depth = run.digest_depth ?? null;
    // contents of pages are not in a state
    const isTold = depth !== null && givesDepth(info.digest, depth);
    const digestDepth = isTold && !(depth === "deep" && from !== null) ? depth : null;
    const opening = { run: run.run, domain, config, digestDepth };
    await this.#candidate.open(from === null ? opening : { ...opening, state: from.state });
    this.#run = run;
    this.#parts = { fx: info.fx, digest: digestDepth !== null };
    [this.#recorded, this.#own] = [{}, {}];
    this.n = from === null ? (run.starts_at ?? 0) - 1 : from.n;
    this.startedAfter = this.n;
    [this.parting, this.failure] = [null, null];
  }

  /** Applies the next operations of the run and holds each answer against the recorded one. */
  async follow(lines: readonly OpLine[]): Promise<void> {
    for (let first = 0; first < lines.length && this.failure === null; first += BATCH)
      await this.#batch(lines.slice(first, first + BATCH));
  }

  /** The full state after operation `n`; null where the implementation has none. */
  async state(): Promise<State | null> {
    if (!this.isOpen) return null;
    return (await this.#candidate.ready()).state();
  }

  async leave(): Promise<void> {
    this.#run = null;
    await this.#candidate.leave();
  }

  async dispose(): Promise<void> {
    this.#run = null;
    await this.#candidate.dispose();
  }

  async #batch(lines: readonly OpLine[]): Promise<void> {
    const adapter = await this.#candidate.ready();
    this.#refuseMissing(lines);
    const { answers, failure } = await adapter.apply(
      // an operation's name and arguments belong together as they stood on one line
      lines.map(({ op, args }) => ({ op, args }) as Operation),
    );
    if (failure !== null) this.#pulse.throwIfInterrupted();
    for (const [index, answer] of answers.entries()) {
      const line = lines[index]!; // no more answers than lines
      this.n = line.n;
      this.parting ??= this.#difference(line, answer);
      this.onAnswer(line, answer);
    }
    this.applied += answers.length;
    if (failure !== null) {
      const { n, op } = lines[answers.length] ?? lines.at(-1)!; // a batch is not empty
      this.failure = failure;
      this.parting ??= { n, op, what: "failure", message: failure.message };
      await this.#candidate.dispose();
    }
    if (this.#pulse.count(answers.length)) await this.#pulse.breathe();
  }

  #difference(line: OpLine, answer: Answer): Parting | null {
    const { n, op } = line;
    const recorded = answerOf(line);
    const parts = { fx: this.#parts.fx && line.fx !== undefined, digest: false };
    // a trace of an implementation that tells no effects has none anywhere
    if (!equalAnswers(op, recorded, answer, parts)) return { n, op, what: "answer", message: null };
    if (!this.#parts.digest) return null;
    // Either side may list components that did not change; what only one side ever told is not held against it.
    Object.assign(this.#recorded, line.digest);
    Object.assign(this.#own, answer.digest);
    for (const [component, digest] of Object.entries(this.#recorded)) {
      const own = this.#own[component];
      if (own !== undefined && own !== digest) return { n, op, what: "digest", message: null };
    }
    return null;
  }

  #refuseMissing(lines: readonly OpLine[]): void {
    const known = this.#info?.ops ?? [];
    const missing = [...new Set(lines.map(({ op }) => op))].filter((op) => !known.includes(op));
    if (missing.length === 0) return;
    const what = `${this.#info?.name ?? this.spec} does not answer ${missing.sort().join(", ")}`;
    throw new CandidateError("candidate_handshake", what);
  }
}
