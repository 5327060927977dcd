// Replays a trace on an implementation and looks at nothing but its own promises: no lost write, no crash, no refusal
// or question that changes anything. Whether it answers what was recorded is the business of `compare`.
import type { Adapter, AdapterFailure, ApplyResult } from "../adapter/adapter.js";
import { CandidateError, InputError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import type { OpLine, RunLine, StateLine, TraceLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions, TraceReader } from "../trace/reader.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import { noSuchRun } from "./compare-results.js";
import type { Latencies } from "./latencies.js";
import { LawChecker } from "./laws.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import type { ReplayResult, Violation } from "./outcome.js";
import { RepeatJudge } from "./repeats.js";

const BATCH_LINES = 256;

/** @public */
export interface ReplayOptions extends ToolControl {
  readonly trace: string;
  readonly start: StartAdapter;
  readonly run?: string; // only this run
  readonly to?: number; // last operation of each run
  readonly fromState?: "first" | number; // begin each run behind its first full state, or behind that of an operation
  readonly passes?: number; // times that the whole trace is replayed; it has to be readable again
  readonly timing?: Timing;
  readonly reader?: ReaderOptions;
}

/** Each operation is asked alone and timed, without digests. @public */
export interface Timing {
  readonly clock: () => number; // nanoseconds; does not go back
  readonly into: Latencies;
}

/** @public */
export async function replayTrace(options: ReplayOptions): Promise<ReplayResult> {
  const { passes = 1, timing } = options;
  const judge = passes > 1 ? new RepeatJudge() : null;
  const candidate = new Candidate(options.start);
  let first: ReplayResult | null = null;
  const violations: Violation[] = [];
  try {
    for (let pass = 1; pass <= passes; pass += 1) {
      judge?.begin(pass);
      const reader = await openTrace(options.trace, options.reader ?? {});
      let result: ReplayResult;
      try {
        result = await new Replay(options, reader, candidate, judge).run();
      } finally {
        await reader.close();
      }
      first ??= result;
      violations.push(...result.violations);
      if (result.error !== null) return { ...first, violations, error: result.error, passes: pass };
      if (violations.length > 0) return { ...first, violations, passes: pass };
    }
  } finally {
    await candidate.dispose();
  }
  return { ...first!, passes, latencies: timing?.into.rows() ?? null };
}

class Replay {
  readonly #options: ReplayOptions;
  readonly #reader: TraceReader;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #violations: Violation[] = [];
  readonly #seen: string[] = [];
  #adapter: Adapter | null = null; // null: the run is not replayed, or over
  #laws = new LawChecker();
  #run = "";
  #last: OpLine | null = null;
  #hasLeftRun = false; // one of which nothing can be replayed
  #waiting: RunLine | null = null; // begins at a state that has not come yet
  #isFromStart = true; // of the run that waits: its own first line says that it goes on from a state
  readonly #judge: RepeatJudge | null;
  #pending: OpLine[] = [];
  #refusals = 0;

  constructor(
    options: ReplayOptions,
    reader: TraceReader,
    candidate: Candidate,
    judge: RepeatJudge | null,
  ) {
    this.#options = options;
    this.#reader = reader;
    this.#candidate = candidate;
    this.#judge = judge;
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<ReplayResult> {
    const error = await this.#pulse.endOf(() => this.#readAll());
    if (this.#pulse.operations === 0) this.#refuseEmpty();
    const isTruncated = this.#reader.truncated !== null || this.#reader.ignoredKeys > 0;
    const isPartial = isTruncated || this.#hasLeftRun;
    return {
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      refusals: this.#refusals,
      violations: this.#violations,
      isPartial,
      passes: 1,
      latencies: null,
      error,
    };
  }

  #refuseEmpty(): never {
    const { trace, run, fromState } = this.#options;
    if (run !== undefined && !this.#seen.includes(run)) throw noSuchRun(run, trace, this.#seen);
    if (fromState !== undefined) {
      const which = fromState === "first" ? "" : ` behind operation ${fromState}`;
      const what = `holds no full state${which} to go on from: record --state every=N writes them`;
      throw new InputError("trace_structure", what, { file: trace });
    }
    const what = this.#hasLeftRun
      ? "holds only runs that begin inside another and do not tell the state there"
      : "holds no operation";
    throw new InputError("trace_structure", `${what}, so nothing was replayed`, { file: trace });
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const { lines } = await this.#reader.readBatch(BATCH_LINES);
      if (lines.length === 0) break;
      for (const line of lines) {
        if (line.kind === "op") this.#gather(line);
        else await this.#structure(line);
      }
      await this.#flush();
    }
    // A truncated trace that was accepted has no `end`.
    await this.#endRun();
  }

  #gather(line: OpLine): void {
    if (this.#adapter === null) return;
    if (line.n <= (this.#options.to ?? Infinity)) this.#pending.push(line);
  }

  async #structure(line: Exclude<TraceLine, OpLine>): Promise<void> {
    await this.#flush();
    if (line.kind === "run") await this.#startRun(line);
    else if (line.kind === "end") await this.#endRun();
    else if (line.kind === "state" && this.#waiting !== null && this.#isWanted(line)) {
      const waiting = this.#waiting;
      this.#waiting = null;
      await this.#openRun(waiting, line);
    }
  }

  #isWanted({ n }: StateLine): boolean {
    const { fromState } = this.#options;
    return !this.#isFromStart || typeof fromState !== "number" || n === fromState;
  }

  async #startRun(line: RunLine): Promise<void> {
    // a run without an end, in a truncated trace
    if (this.#adapter !== null || this.#waiting !== null) await this.#endRun();
    this.#seen.push(line.run);
    if (this.#options.run !== undefined && line.run !== this.#options.run) return;
    this.#isFromStart = (line.starts_at ?? 0) === 0;
    if (!this.#isFromStart || this.#options.fromState !== undefined) this.#waiting = line;
    else await this.#openRun(line, null);
  }

  async #openRun(line: RunLine, state: StateLine | null): Promise<void> {
    const adapter = await this.#candidate.ready();
    if (!adapter.info.domains.includes(line.domain)) {
      const what = `the implementation does not answer domain ${line.domain} of run ${line.run}`;
      throw new CandidateError("candidate_handshake", what);
    }
    if (state !== null && !adapter.info.fromState) {
      const what = `the implementation cannot start run ${line.run} from a state`;
      throw new CandidateError("candidate_handshake", what);
    }
    this.#run = line.run;
    this.#pulse.run = line.run;
    this.#laws = new LawChecker(state !== null);
    // With digests a refusal or a question that changes something shows.
    const recorded = line.digest_depth ?? "layout";
    const isTimed = this.#options.timing !== undefined;
    const isGiven = !isTimed && givesDepth(adapter.info.digest, recorded);
    const digestDepth = isGiven ? recorded : null;
    const { run, domain, config } = line;
    const opening = { run, domain, config, digestDepth };
    await this.#candidate.open(state === null ? opening : { ...opening, state: state.state });
    this.#adapter = adapter;
  }

  async #flush(): Promise<void> {
    const lines = this.#pending;
    const adapter = this.#adapter;
    if (lines.length === 0 || adapter === null) return;
    this.#pending = [];
    refuseMissing(adapter, lines);
    // an operation's name and arguments belong together as they stood on one line
    const sent = lines.map(({ op, args }) => ({ op, args }) as Operation);
    const { answers, failure } = await this.#apply(adapter, sent);
    if (failure !== null) this.#pulse.throwIfInterrupted();
    for (const [index, answer] of answers.entries()) {
      const line = lines[index];
      const operation = sent[index];
      if (line === undefined || operation === undefined) break;
      this.#last = line;
      if (answer.err !== undefined) this.#refusals += 1;
      this.#judge?.note(answer);
      const broken = this.#laws.check(operation, answer);
      if (broken !== null) {
        this.#pulse.count(index + 1);
        this.#violate(line, broken);
        return;
      }
    }
    const failed = lines[answers.length];
    const isDue = this.#pulse.count(answers.length + (failed === undefined ? 0 : 1));
    if (failed !== undefined) this.#violate(failed, failure ?? NO_ANSWER);
    if (failure !== null) await this.#candidate.dispose();
    if (isDue) await this.#pulse.breathe();
  }

  async #apply(adapter: Adapter, operations: readonly Operation[]): Promise<ApplyResult> {
    const { timing } = this.#options;
    if (timing === undefined) return adapter.apply(operations);
    const answers: Answer[] = [];
    for (const operation of operations) {
      const begin = timing.clock();
      const { answers: given, failure } = await adapter.apply([operation]);
      timing.into.add(operation.op, timing.clock() - begin);
      answers.push(...given);
      if (failure !== null || given.length === 0) return { answers, failure };
    }
    return { answers, failure: null };
  }

  async #endRun(): Promise<void> {
    const adapter = this.#adapter;
    this.#adapter = null;
    // it began inside another and did not tell the state there
    if (this.#waiting !== null && !this.#isFromStart) this.#hasLeftRun = true;
    this.#waiting = null;
    if (adapter === null) {
      await this.#candidate.leave();
      return;
    }
    const { failure, digest } = await this.#candidate.close();
    if (failure !== null) this.#pulse.throwIfInterrupted();
    const broken = failure ?? this.#judge?.end(this.#run, digest) ?? null;
    if (broken !== null && this.#last !== null) this.#violate(this.#last, broken);
    else this.#pulse.runs += 1;
  }

  #violate({ n, op, args }: OpLine, failure: AdapterFailure): void {
    this.#violations.push({ run: this.#run, n, op, args, failure });
    this.#adapter = null; // the rest of the run is not replayed
    this.#pulse.runs += 1;
  }
}

const NO_ANSWER: AdapterFailure = { kind: "protocol", message: "gave no answer" };

function refuseMissing(adapter: Adapter, lines: readonly OpLine[]): void {
  const known = new Set(adapter.info.ops);
  const missing = [...new Set(lines.map(({ op }) => op))].filter((op) => !known.has(op)).sort();
  if (missing.length === 0) return;
  const what = `${adapter.info.name} does not answer ${missing.join(", ")}`;
  throw new CandidateError("candidate_handshake", what);
}
