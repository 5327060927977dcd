// Replays a trace on an implementation and looks at nothing but its own promises: no lost write, no crash, no refusal
// or question that changes anything. Whether it answers what was recorded is the business of `compare`.
import type { Adapter, AdapterFailure } from "../adapter/adapter.js";
import { CandidateError, InputError } from "../base/errors.js";
import type { Operation } from "../base/operations.js";
import type { OpLine, RunLine, StateLine, TraceLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions, TraceReader } from "../trace/reader.js";
import { Candidate, givesDepth } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import { noSuchRun } from "./compare-results.js";
import { LawChecker } from "./laws.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import type { ReplayResult, Violation } from "./outcome.js";

const BATCH_LINES = 256;

/** @public */
export interface ReplayOptions extends ToolControl {
  readonly trace: string;
  readonly start: StartAdapter;
  readonly run?: string; // only this run
  readonly to?: number; // last operation of each run
  readonly reader?: ReaderOptions;
}

/** @public */
export async function replayTrace(options: ReplayOptions): Promise<ReplayResult> {
  const reader = await openTrace(options.trace, options.reader ?? {});
  const replay = new Replay(options, reader);
  try {
    return await replay.run();
  } finally {
    await replay.dispose();
    await reader.close();
  }
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
  #waiting: RunLine | null = null;
  #pending: OpLine[] = [];
  #refusals = 0;

  constructor(options: ReplayOptions, reader: TraceReader) {
    this.#options = options;
    this.#reader = reader;
    this.#candidate = new Candidate(options.start);
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<ReplayResult> {
    const error = await this.#pulse.endOf(() => this.#readAll());
    if (this.#pulse.operations === 0) this.#refuseEmpty();
    const isTruncated = this.#reader.truncated !== null || this.#reader.ignoredKeys > 0;
    return {
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      refusals: this.#refusals,
      violations: this.#violations,
      isPartial: isTruncated,
      error,
    };
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
  }

  #refuseEmpty(): never {
    const { trace, run } = this.#options;
    if (run !== undefined && !this.#seen.includes(run)) throw noSuchRun(run, trace, this.#seen);
    throw new InputError("trace_structure", "holds no operation, so nothing was replayed", {
      file: trace,
    });
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
    else if (line.kind === "state" && this.#waiting !== null) {
      const waiting = this.#waiting;
      this.#waiting = null;
      await this.#openRun(waiting, line);
    }
  }

  async #startRun(line: RunLine): Promise<void> {
    if (this.#adapter !== null) await this.#endRun(); // a run without an end, in a truncated trace
    this.#seen.push(line.run);
    if (this.#options.run !== undefined && line.run !== this.#options.run) return;
    if ((line.starts_at ?? 0) > 0) this.#waiting = line;
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
    this.#laws = new LawChecker();
    // With digests a refusal or a question that changes something shows.
    const recorded = line.digest_depth ?? "layout";
    const digestDepth = givesDepth(adapter.info.digest, recorded) ? recorded : null;
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
    const { answers, failure } = await adapter.apply(sent);
    if (failure !== null) this.#pulse.throwIfInterrupted();
    for (const [index, answer] of answers.entries()) {
      const line = lines[index];
      const operation = sent[index];
      if (line === undefined || operation === undefined) break;
      this.#last = line;
      if (answer.err !== undefined) this.#refusals += 1;
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

  async #endRun(): Promise<void> {
    const adapter = this.#adapter;
    this.#adapter = null;
    if (adapter === null) {
      await this.#candidate.leave();
      return;
    }
    const { failure } = await this.#candidate.close();
    if (failure !== null) this.#pulse.throwIfInterrupted();
    if (failure !== null && this.#last !== null) this.#violate(this.#last, failure);
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
