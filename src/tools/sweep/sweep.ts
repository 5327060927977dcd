// A trace's operations at each value of one number of the configuration: what is granted there, what is refused, what is
// in use. Recorded answers are not looked at. The file is read again for each value, so memory does not follow it.
import type { Adapter, AdapterFailure } from "../../adapter/adapter.js";
import { CandidateError, InputError, UsageError } from "../../base/errors.js";
import type { Operation, RunConfig } from "../../base/operations.js";
import type { OpLine, RunLine, TraceLine } from "../../trace/lines.js";
import { openTrace } from "../../trace/reader.js";
import type { ReaderOptions, TraceReader } from "../../trace/reader.js";
import { foreignLog, openLog } from "../../workload/import.js";
import { configWith } from "../bisect/config-key.js";
import { Candidate } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import { noSuchRun } from "../compare-results.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import type { Sweep, SweepPoint } from "./outcome.js";
import { refusalSpans } from "./spans.js";
import { PointTally } from "./tally.js";

const BATCH_LINES = 256;

/** @public */
export interface SweepOptions extends ToolControl {
  readonly trace: string; // a trace, or a log that `import` takes
  readonly start: StartAdapter;
  readonly key: string; // `arena_bytes`, `sub_pools.full.unit_bytes`
  readonly values: readonly number[]; // in the order in which they are walked
  readonly run?: string;
  readonly reader?: ReaderOptions;
  readonly isTimeOver?: () => boolean;
  readonly onPoint?: (point: SweepPoint) => void;
}

/**
 * Replays the operations at each value. Throws `UsageError` for a key that a run lacks, for an unknown run, and where the
 * configuration is refused at every value; `CandidateError` for an implementation that does not answer what the trace
 * asks. @public
 */
export async function sweepKey(options: SweepOptions): Promise<Sweep> {
  const sweep = new KeySweep(options);
  try {
    return await sweep.run();
  } finally {
    await sweep.dispose();
  }
}

class KeySweep {
  readonly #options: SweepOptions;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #points: SweepPoint[] = [];
  #isPartial = false;

  constructor(options: SweepOptions) {
    this.#options = options;
    this.#candidate = new Candidate(options.start);
    this.#pulse = new Pulse(options);
  }

  async run(): Promise<Sweep> {
    const { key, values, isTimeOver, onPoint } = this.#options;
    const error = await this.#pulse.endOf(async () => {
      for (const value of values) {
        if (this.#points.length > 0 && isTimeOver?.() === true) break;
        const point = await new ValueReplay(this.#options, value, this.#candidate, this.#pulse)
          .run()
          .then(({ point: reached, isPartial }) => {
            this.#isPartial ||= isPartial;
            return reached;
          });
        this.#points.push(point);
        onPoint?.(point);
      }
    });
    if (error === null && this.#pulse.operations === 0) this.#refuseAll();
    return {
      key,
      values,
      points: this.#points,
      refusals: refusalSpans(this.#points),
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
      isPartial: this.#isPartial || this.#points.length < values.length,
      error,
    };
  }

  async dispose(): Promise<void> {
    await this.#candidate.dispose();
  }

  #refuseAll(): never {
    const { message = null } = this.#points[0] ?? {};
    throw new UsageError(
      `--key ${this.#options.key}: nothing could be asked at any value: ${message ?? "no value"}`,
    );
  }
}

/** All runs, or the chosen one, at one value. */
class ValueReplay {
  readonly #options: SweepOptions;
  readonly #value: number;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;
  readonly #tally: PointTally;
  readonly #seen: string[] = [];
  #adapter: Adapter | null = null; // null: the run is not replayed, or over
  #run = "";
  #pending: { readonly n: number; readonly operation: Operation }[] = [];
  #hasOperations = false;

  constructor(options: SweepOptions, value: number, candidate: Candidate, pulse: Pulse) {
    this.#options = options;
    this.#value = value;
    this.#candidate = candidate;
    this.#pulse = pulse;
    this.#tally = new PointTally(value);
  }

  async run(): Promise<{ readonly point: SweepPoint; readonly isPartial: boolean }> {
    const { trace, reader: readerOptions = {} } = this.#options;
    const log = await foreignLog(trace);
    const reader =
      log === null ? await openTrace(trace, readerOptions) : openLog(log, readerOptions);
    try {
      await this.#readAll(reader);
      this.#refuseEmpty();
      const isPartial = reader.truncated !== null || reader.ignoredKeys > 0;
      return { point: this.#tally.point, isPartial };
    } finally {
      await reader.close();
    }
  }

  #refuseEmpty(): void {
    const { trace, run } = this.#options;
    if (run !== undefined && !this.#seen.includes(run)) throw noSuchRun(run, trace, this.#seen);
    if (this.#hasOperations) return;
    throw new InputError("trace_structure", "holds no operation, so nothing was replayed", {
      file: trace,
    });
  }

  async #readAll(reader: TraceReader): Promise<void> {
    for (;;) {
      const { lines } = await reader.readBatch(BATCH_LINES);
      if (lines.length === 0) break;
      for (const line of lines) await this.#line(line);
      await this.#flush();
    }
    await this.#endRun(); // a truncated trace that was accepted has no `end`
  }

  async #line(line: TraceLine): Promise<void> {
    if (line.kind === "op") this.#gather(line);
    else if (line.kind === "run") {
      await this.#endRun();
      await this.#startRun(line);
    } else if (line.kind === "end") await this.#endRun();
  }

  #gather({ n, op, args }: OpLine): void {
    if (this.#run !== "") this.#hasOperations = true;
    if (this.#adapter === null) return;
    // an operation's name and arguments belong together as they stood on one line
    this.#pending.push({ n, operation: { op, args } as Operation });
  }

  async #startRun(line: RunLine): Promise<void> {
    const { run, domain, config, starts_at: startsAt = 0 } = line;
    this.#seen.push(run);
    if (this.#options.run !== undefined && run !== this.#options.run) return;
    if (startsAt > 0) {
      const why = `run ${run} cannot be swept: it begins inside another, with a state`;
      throw new InputError("trace_structure", why, { file: this.#options.trace });
    }
    this.#run = run;
    this.#pulse.run = run;
    const changed = this.#changed(line, config);
    const adapter = await this.#candidate.ready();
    if (!adapter.info.domains.includes(domain)) {
      const hint = domain === "heap" ? "; --impl heap:POLICY does" : "";
      const what = `${adapter.info.name} does not answer domain ${domain} of run ${run}${hint}`;
      throw new CandidateError("candidate_handshake", what);
    }
    try {
      await this.#candidate.open({ run, domain, config: changed, digestDepth: null });
    } catch (thrown) {
      if (!isRefusedConfig(thrown)) throw thrown;
      await this.#candidate.dispose();
      this.#tally.end("refused", `run ${run}: the configuration is refused: ${thrown.message}`);
      return;
    }
    this.#tally.open(run, domain, changed, adapter.info.fx);
    this.#adapter = adapter;
  }

  /** A heap of a log that tells no arena has one here. */
  #changed({ run, domain }: RunLine, config: RunConfig): RunConfig {
    const { key } = this.#options;
    if (domain === "heap" && key === "arena_bytes") return { ...config, arena_bytes: this.#value };
    return configWith(config, key, this.#value, run);
  }

  async #flush(): Promise<void> {
    const adapter = this.#adapter;
    const pending = this.#pending;
    this.#pending = [];
    if (adapter === null || pending.length === 0) return;
    refuseMissing(adapter, pending);
    // what is left out follows from earlier answers, so an operation on an object waits for the answer of its allocation
    let batch: typeof pending = [];
    const named = new Set<unknown>();
    for (const one of pending) {
      const names = Object.values(one.operation.args).filter((value) => typeof value === "string");
      const isHeap = one.operation.op.startsWith("heap.");
      if (isHeap && one.operation.op !== "heap.alloc" && names.some((name) => named.has(name))) {
        if (!(await this.#ask(adapter, batch))) return;
        batch = [];
        named.clear();
      }
      if (this.#tally.leaves(one.operation)) continue;
      if (isHeap) for (const name of names) named.add(name);
      batch.push(one);
    }
    await this.#ask(adapter, batch);
  }

  /** False where the run is over. */
  async #ask(
    adapter: Adapter,
    batch: readonly { readonly n: number; readonly operation: Operation }[],
  ): Promise<boolean> {
    if (batch.length === 0) return true;
    const { answers, failure } = await adapter.apply(batch.map(({ operation }) => operation));
    this.#pulse.throwIfInterrupted();
    let isGoing = true;
    for (const [index, answer] of answers.entries()) {
      const { n, operation } = batch[index]!; // no more answers than operations
      this.#pulse.count(1);
      isGoing = this.#tally.follow(n, operation, answer);
      if (!isGoing) break;
    }
    if (isGoing && (failure !== null || answers.length < batch.length)) {
      const at = batch[answers.length];
      await this.#break(at?.n ?? null, failure);
      isGoing = false;
    }
    if (!isGoing) this.#leaveRun();
    if (this.#pulse.count(0)) await this.#pulse.breathe();
    return isGoing;
  }

  async #break(n: number | null, failure: AdapterFailure | null): Promise<void> {
    const { kind, message } = failure ?? { kind: "protocol", message: "gave no answer" };
    const place = n === null ? "its end" : `operation ${String(n)}`;
    this.#tally.end("broken", `run ${this.#run}, ${place}: ${kind}: ${message}`);
    await this.#candidate.dispose();
  }

  async #endRun(): Promise<void> {
    await this.#flush();
    const wasGoing = this.#adapter !== null;
    this.#leaveRun();
    this.#run = "";
    if (!wasGoing) return;
    const { failure } = await this.#candidate.close();
    this.#pulse.throwIfInterrupted();
    if (failure !== null) await this.#break(null, failure);
  }

  #leaveRun(): void {
    if (this.#adapter !== null) this.#pulse.runs += 1;
    this.#adapter = null;
    this.#pending = [];
  }
}

function refuseMissing(
  adapter: Adapter,
  lines: readonly { readonly operation: Operation }[],
): void {
  const known = new Set(adapter.info.ops);
  const asked = new Set(lines.map(({ operation }) => operation.op));
  const missing = [...asked].filter((op) => !known.has(op)).sort();
  if (missing.length === 0) return;
  const what = `${adapter.info.name} does not answer ${missing.join(", ")}`;
  throw new CandidateError("candidate_handshake", what);
}

// It started and answers the domain: what it then says is that it does not take this configuration.
function isRefusedConfig(thrown: unknown): thrown is CandidateError {
  return thrown instanceof CandidateError && thrown.code === "candidate_handshake";
}
