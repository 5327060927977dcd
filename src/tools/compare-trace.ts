// Replays a trace on an implementation and compares every answer with the recorded one. Reads in batches, drops
// nothing: what is not compared makes the verdict incomplete or is an error.
import type { Adapter } from "../adapter/adapter.js";
import { CandidateError, InternalError, UnifiedTraceError } from "../base/errors.js";
import type { Answer, Operation } from "../base/operations.js";
import type { EndLine, OpLine, RunLine, StateLine, TraceLine } from "../trace/lines.js";
import type { TraceReader } from "../trace/reader.js";
import { openTrace } from "../trace/reader.js";
import { isReadAgain } from "../trace/reader-input.js";
import { Candidate } from "./candidate.js";
import type { CompareTraceOptions } from "./compare-options.js";
import { RunComparer, unopenedRun } from "./compare-run.js";
import { isReadable, isWrittenAs, readableOf } from "../trace/held-line.js";
import { HeldBatches, wholeTrace } from "./examine/line-source.js";
import { Handshake } from "./handshake.js";
import { ResultList } from "./compare-results.js";
import { operationsPast } from "./past.js";
import { Pulse } from "./pulse.js";
import { partsWith, TraceSide } from "./sides.js";
import { stateDifferences } from "./state-differences.js";
import { shardOfTrace } from "./trace-shard.js";
import type { CompareResult } from "./outcome.js";

const BATCH_LINES = 256;
const KEEP = 5;

/**
 * Compares a trace with what an implementation answers. Errors met after the first compared run are part of the result;
 * earlier ones are thrown. @public
 */
export async function compareTrace(options: CompareTraceOptions): Promise<CompareResult> {
  const { trace, shard, signal } = options;
  const isOfShard =
    shard === undefined
      ? () => true
      : await shardOfTrace(trace, shard, options.reader ?? {}, signal);
  // most answers are what the candidate gives, and need not be parsed for it
  const holdsAnswers = (options.mode ?? "exact") === "exact";
  const reader = await openTrace(trace, { holdsAnswers, ...options.reader });
  const comparison = new TraceComparison(options, reader, isOfShard);
  try {
    return await comparison.run();
  } finally {
    await comparison.dispose();
    await reader.close();
  }
}

class TraceComparison {
  readonly #options: CompareTraceOptions;
  readonly #isOfShard: (index: number) => boolean; // of a run's index in the file
  readonly #reader: TraceReader;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #results: ResultList;
  readonly #side: TraceSide;
  readonly #handshake: Handshake;
  readonly #twin: Candidate | null; // the same implementation once more
  readonly #held: HeldBatches | null; // where the look behind the first divergence may go on from here
  #adapter: Adapter | null = null;
  #twinAdapter: Adapter | null = null;
  #comparer: RunComparer | null = null;
  #waiting: RunLine | null = null; // a run that begins with a state
  #pending: OpLine[] = [];
  #last: { n: number; op: string } = { n: 0, op: "boot" };
  #isStopped = false;
  #batch: readonly TraceLine[] = []; // being worked on
  #runsMet: number; // in the file, up to here

  constructor(
    options: CompareTraceOptions,
    reader: TraceReader,
    isOfShard: (index: number) => boolean,
  ) {
    this.#options = options;
    this.#isOfShard = isOfShard;
    this.#reader = reader;
    this.#candidate = new Candidate(options.start);
    this.#twin = options.isDoubled === true ? new Candidate(options.start) : null;
    this.#held = options.first === true && options.isBrief !== true ? new HeldBatches() : null;
    this.#pulse = new Pulse(options);
    this.#results = new ResultList(options);
    this.#runsMet = options.part?.index ?? 0;
    this.#side = new TraceSide(options.trace);
    this.#handshake = new Handshake({
      trace: options.trace,
      candidate: options.candidate,
      skipUnsupported: options.skipUnsupported === true,
      isChosen: (run, index) =>
        options.run === undefined ? this.#isOfShard(index) : run === options.run,
      commit: options.commit ?? null,
      onLacking: options.onLacking,
      onDifferences: options.onDifferences,
    });
  }

  async run(): Promise<CompareResult> {
    try {
      await this.#readAll();
    } catch (thrown) {
      this.#pulse.throwIfInterrupted();
      if (!(thrown instanceof UnifiedTraceError) || thrown instanceof InternalError) throw thrown;
      if (this.#results.isEmpty && (this.#comparer?.operations ?? 0) === 0) throw thrown;
      this.#results.fail(thrown, this.#comparer);
    }
    const truncated = this.#reader.truncated;
    if (truncated !== null) this.#results.truncate(truncated, this.#comparer);
    if (this.#reader.ignoredKeys > 0) this.#results.lenient();
    this.#results.checkSelection(this.#options.trace);
    await this.#examine();
    const { part } = this.#options;
    part?.onEnd(this.#side.facts(), this.#runsMet - part.index);
    await this.#handshake.settle();
    const base = this.#side.info();
    return this.#results.finish({
      base,
      candidate: this.#handshake.candidateSide(base),
      differences: this.#handshake.differences(this.#side),
      isUnread: this.#isStopped && this.#options.first === true,
    });
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
    await this.#twin?.dispose();
  }

  async #examine(): Promise<void> {
    const { trace, start, mode, base, reader, signal, isBrief } = this.#options;
    if (isBrief === true || !isReadAgain(trace) || !this.#results.isDivergent) return;
    await this.#candidate.dispose();
    const { examineRuns } = await import("./examine/examine.js"); // most comparisons end equal
    const found = await examineRuns({
      lines: async () => this.#held?.source(this.#reader) ?? wholeTrace(trace, reader),
      runs: this.#results.runs,
      mode: mode ?? "exact",
      candidate: start,
      base: base ?? null,
      past: operationsPast(this.#options),
      ...(signal && { signal }),
    });
    this.#results.examined(found);
  }

  async #readAll(): Promise<void> {
    while (!this.#isStopped) {
      const { lines } = await this.#reader.readBatch(BATCH_LINES);
      if (lines.length === 0) return;
      this.#side.header ??= this.#reader.header;
      this.#batch = lines;
      this.#held?.add(lines);
      for (const line of lines) {
        // Ordinary operations only gather; everything else waits for what gathered.
        if (line.kind === "op") {
          // everything before it has to be compared first: it names ids, and the candidate has its own
          if (line.op === "ask.translate" && this.#comparer?.hasOwnIds) await this.#flush();
          if (!this.#gather(line)) break;
        } else await this.#structure(line);
        if (this.#hasStopped()) return;
      }
      await this.#flush();
      if (this.#isFirstFound()) this.#stop();
      if (this.#pulse.count(0)) await this.#pulse.breathe();
    }
  }

  /** False: the line is bad, and the batch ends before it. */
  #gather(line: OpLine): boolean {
    this.#leaveWaiting();
    const comparer = this.#comparer;
    if (comparer === null) return true; // a run that was not chosen
    if (!comparer.isOver) this.#pending.push(line);
    else if (isReadable(line)) comparer.operations += 1;
    else return false;
    return true;
  }

  async #structure(line: Exclude<TraceLine, OpLine>): Promise<void> {
    await this.#flush();
    switch (line.kind) {
      case "run":
        if (line.run === this.#options.part?.until) this.#isStopped = true;
        else await this.#startRun(line);
        break;
      case "state":
        await this.#meetState(line);
        break;
      case "end":
        await this.#endRun(line);
        break;
      case "trace":
      case "call":
      case "mark":
        break;
    }
  }

  /** A run that begins inside another and does not tell the state there: nothing of it can be compared. */
  #leaveWaiting(): void {
    const line = this.#waiting;
    if (line === null) return;
    this.#waiting = null;
    this.#comparer = unopenedRun(line);
  }

  async #startRun(line: RunLine): Promise<void> {
    this.#leaveWaiting();
    await this.#leaveUnended();
    this.#results.saw(line.run);
    if (this.#options.run !== undefined && line.run !== this.#options.run) return;
    if (this.#isLeftOut()) {
      this.#results.leftOut += 1;
      return;
    }
    this.#held?.begin(this.#batch);
    this.#side.run(line);
    this.#pulse.run = line.run;
    if ((line.starts_at ?? 0) > 0) this.#waiting = line;
    else await this.#openRun(line, null);
  }

  #isLeftOut(): boolean {
    const index = this.#runsMet;
    this.#runsMet += 1;
    return !this.#isOfShard(index) || this.#options.isOverTime?.() === true;
  }

  /** A run without an `end`, in a truncated trace that is accepted. */
  async #leaveUnended(): Promise<void> {
    const comparer = this.#comparer;
    if (comparer === null) return;
    this.#comparer = null;
    await this.#candidate.leave();
    comparer.incomplete ??= "the run has no end in the trace";
    this.#results.add(comparer);
    this.#pulse.runs += 1;
  }

  async #openRun(line: RunLine, state: StateLine | null): Promise<void> {
    const adapter = await this.#candidate.ready();
    await this.#handshake.shake(adapter, line, state !== null, this.#side);
    const parts = partsWith(line.digest_depth ?? null, adapter);
    const { keep, mode, masks } = this.#options;
    const how = { ...(mode && { mode }), ...(masks && { masks }) };
    const comparer = new RunComparer(line.run, parts, keep ?? KEEP, how);
    comparer.followsNames = state === null;
    this.#comparer = comparer;
    const opening = {
      run: line.run,
      domain: line.domain,
      config: line.config,
      digestDepth: parts.digest ? (line.digest_depth ?? null) : null,
    };
    try {
      const whole = state === null ? opening : { ...opening, state: state.state };
      await this.#candidate.open(whole);
      this.#twinAdapter = (await this.#twin?.open(whole)) ?? null;
      this.#adapter = adapter;
    } catch (thrown) {
      if (!(thrown instanceof CandidateError) || this.#results.isEmpty) throw thrown;
      // It opened runs before: refusing this one is a finding.
      const failure = { kind: "protocol" as const, message: thrown.message };
      comparer.breakBefore(line.starts_at ?? 0, failure);
      await this.#candidate.dispose();
    }
  }

  async #flush(): Promise<void> {
    const gathered = this.#pending;
    if (gathered.length === 0) return;
    this.#pending = [];
    const comparer = this.#comparer;
    const adapter = this.#adapter;
    if (comparer === null || adapter === null) return;
    // what lacks is told of good lines only
    const lines = this.#handshake.isLacking ? readableOf(gathered) : gathered;
    const isAnswered = this.#handshake.answeredKinds(adapter, lines, comparer.run);
    const sent: Operation[] = [];
    for (const { op, args } of lines) {
      // an operation's name and arguments belong together as they stood on one line
      if (isAnswered === null || isAnswered.has(op)) {
        sent.push(comparer.asked({ op, args } as Operation));
      }
    }
    const { answers, failure } = await adapter.apply(sent);
    if (failure !== null) this.#pulse.throwIfInterrupted();
    const second = (await this.#twinAdapter?.apply(sent)) ?? null;
    if (second !== null && second.failure !== null) this.#pulse.throwIfInterrupted();
    let next = 0;
    for (const line of lines) {
      if (comparer.isOver) {
        if (!isReadable(line)) break; // the reader tells of it next
        this.#side.kind(line);
        comparer.operations += 1;
        continue;
      }
      const answer = answers[next];
      const isSame = isWrittenAs(line, answer);
      this.#side.kind(line);
      this.#last = line;
      if (isAnswered !== null && !isAnswered.has(line.op)) {
        comparer.skip(line);
        continue;
      }
      const again = second === null ? answer : second.answers[next];
      next += 1;
      if (!comparer.isSelfConsistent(line, answer, again)) continue;
      if (answer !== undefined) this.#compareOne(comparer, line, answer, isSame);
      else if (failure !== null) comparer.break(line, failure);
      else comparer.break(line, { kind: "protocol", message: "gave fewer answers than asked for" });
    }
    if (failure !== null) await this.#candidate.dispose();
    if (second !== null && second.failure !== null) await this.#twin?.dispose();
    if (this.#pulse.count(lines.length)) await this.#pulse.breathe();
  }

  #compareOne(comparer: RunComparer, line: OpLine, answer: Answer, isSame: boolean): void {
    if (answer.err?.code !== "unsupported") {
      comparer.compare(line, answer, isSame);
      return;
    }
    this.#handshake.meetUnsupported(line.op, line.n, comparer.run);
    comparer.skip(line);
    if (line.op !== "boot") return;
    comparer.incomplete = "the candidate does not answer boot for this configuration";
    comparer.isLeft = true;
  }

  async #meetState(line: StateLine): Promise<void> {
    const waiting = this.#waiting;
    if (waiting !== null) {
      this.#waiting = null;
      await this.#openRun(waiting, line);
      return;
    }
    const comparer = this.#comparer;
    if (comparer === null || comparer.isOver || comparer.skipped > 0) return;
    if (comparer.mode !== "exact") return;
    const state = (await this.#adapter?.state()) ?? null;
    if (state === null) return;
    const fields = stateDifferences(line.state, state);
    if (fields.length > 0) comparer.differInState(line.n, this.#last.op, fields);
  }

  async #endRun(line: EndLine): Promise<void> {
    this.#leaveWaiting();
    const comparer = this.#comparer;
    if (comparer === null) return;
    if (comparer.isOver) await this.#candidate.leave();
    else await this.#closeRun(comparer, line);
    const isFirstFound = this.#isFirstFound();
    this.#comparer = null;
    this.#results.add(comparer);
    this.#pulse.runs += 1;
    // Nothing after the chosen run is of interest.
    if (isFirstFound || this.#options.run !== undefined) this.#isStopped = true;
  }

  // A method, because the compiler does not see that the work of a line may stop the loop.
  #hasStopped(): boolean {
    return this.#isStopped;
  }

  #isFirstFound(): boolean {
    return this.#options.first === true && (this.#comparer?.divergence ?? null) !== null;
  }

  /** Stops inside a run: its verdict is known, and the rest of the trace is not read. */
  #stop(): void {
    const comparer = this.#comparer;
    if (comparer !== null) this.#results.add(comparer);
    this.#comparer = null;
    this.#isStopped = true;
  }

  async #closeRun(comparer: RunComparer, line: EndLine): Promise<void> {
    const { digest, failure } = await this.#candidate.close();
    if (comparer.operations === 0) return; // there is no operation at which the sides could part
    if (failure !== null) {
      this.#pulse.throwIfInterrupted();
      comparer.breakAfter(this.#last.n, this.#last.op, failure);
      return;
    }
    const recorded = line.digest ?? null;
    const isCompared = comparer.mode === "exact" && comparer.parts.digest && comparer.skipped === 0;
    if (isCompared && recorded !== null && digest !== null && recorded !== digest) {
      const fields = [{ path: "/end/digest", base: recorded, candidate: digest }];
      comparer.differInState(this.#last.n, this.#last.op, fields);
    }
  }
}
