// Looks at one operation of a trace, reading it once. A state comes from the trace's own `state` line where there is one at
// that operation, else from replaying what lies between the nearest one before it and the operation.
import { InputError, UsageError } from "../../base/errors.js";
import type { OpLine, RunLine, StateLine, TraceLine } from "../../trace/lines.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { answerOf } from "../answered-line.js";
import { noSuchRun } from "../compare-results.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import type { Parting } from "./follower.js";
import { GeometryTrack } from "./geometry-track.js";
import type { HeapTrack } from "./heap-map.js";
import type { Look, NamedStart, SideLook, Snapshot, StateSource } from "./look.js";
import { type LineSource, openLines } from "./open-lines.js";
import { heapTrackOf, SideFollower, snapshotOf } from "./side-follower.js";

const BATCH_LINES = 256;
const HELD_MAX = 4096; // operations kept back in the hope of a state line
const RUN_NAMES_MAX = 1000;

/** @public */
export interface LookOptions extends ToolControl {
  readonly trace: string;
  readonly run?: string; // default: the first run
  readonly op: number;
  readonly base: NamedStart; // stands in for the trace where it has no state
  /** True: the base answers in place of the trace, whatever is recorded. */
  readonly isBaseAsked?: boolean;
  readonly candidate?: NamedStart;
  readonly reader?: ReaderOptions;
}

/**
 * Looks at one operation. Throws `UsageError` for a run or an operation that the trace does not hold, `InputError` for a
 * file that is wrong before it. @public
 */
export async function lookAt(options: LookOptions): Promise<Look> {
  const reader = await openLines(options.trace, options.reader ?? {});
  const search = new Search(options);
  let looking: OneRun | null = null;
  try {
    for (;;) {
      const { lines } = await reader.readBatch(BATCH_LINES);
      if (lines.length === 0) break;
      for (const line of lines) {
        if (line.kind === "run") {
          // a run without an end, in a truncated trace
          if (looking !== null) return await looking.look(reader);
          looking = search.run(line);
        } else if (looking !== null && !(await looking.take(line))) {
          return await looking.look(reader);
        }
      }
      await search.breathe(lines.length);
    }
    if (looking !== null) return await looking.look(reader);
    throw search.nothing();
  } finally {
    await looking?.dispose();
    await reader.close();
  }
}

class Search {
  readonly #options: LookOptions;
  readonly #pulse: Pulse;
  readonly #seen: string[] = [];

  constructor(options: LookOptions) {
    this.#options = options;
    this.#pulse = new Pulse(options);
  }

  run(line: RunLine): OneRun | null {
    if (this.#seen.length < RUN_NAMES_MAX) this.#seen.push(line.run);
    const { run } = this.#options;
    return run === undefined || run === line.run
      ? new OneRun(this.#options, line, this.#pulse)
      : null;
  }

  async breathe(count: number): Promise<void> {
    if (this.#pulse.count(count)) await this.#pulse.breathe();
  }

  nothing(): Error {
    const { run, trace } = this.#options;
    if (run !== undefined) return noSuchRun(run, trace, this.#seen);
    return new InputError("trace_structure", "holds no run, so there is nothing to show", {
      file: trace,
    });
  }
}

/** The run that is looked at, fed line by line. */
class OneRun {
  readonly #options: LookOptions;
  readonly #run: RunLine;
  readonly #base: SideFollower;
  readonly #candidate: SideFollower | null;
  readonly #recorded: Recorded;
  #held: OpLine[] = []; // not yet followed by the base
  #queued: OpLine[] = []; // not yet followed by the candidate
  #restart: StateLine | null = null;
  #isFollowing = false;
  #line: OpLine | null = null;
  #last = -1;

  constructor(options: LookOptions, run: RunLine, pulse: Pulse) {
    this.#options = options;
    this.#run = run;
    this.#last = (run.starts_at ?? 0) - 1;
    this.#base = new SideFollower(run, options.base, pulse);
    const { candidate } = options;
    this.#candidate = candidate === undefined ? null : new SideFollower(run, candidate, pulse);
    this.#recorded = new Recorded(run, options.op);
  }

  /** Takes the next line in; false once nothing more is needed. */
  async take(line: TraceLine): Promise<boolean> {
    if (line.kind === "op") {
      if (this.#line !== null) return false;
      await this.#operation(line);
      return true;
    }
    if (line.kind === "state") {
      this.#recorded.state(line);
      if (line.n < this.#options.op) await this.#mayRestart(line);
      return this.#line === null;
    }
    return line.kind !== "end";
  }

  async #operation(line: OpLine): Promise<void> {
    const { op } = this.#options;
    this.#last = line.n;
    if (line.n > op) return;
    this.#recorded.operation(line);
    this.#base.noteRecorded(line);
    if (line.n === op) {
      this.#line = line;
      return;
    }
    this.#held.push(line);
    if (this.#held.length >= HELD_MAX) await this.#followHeld();
    if (this.#candidate === null) return;
    this.#queued.push(line);
    if (this.#queued.length >= HELD_MAX) await this.#followQueued();
  }

  /** A state line makes everything before it unnecessary for the base. */
  async #mayRestart(line: StateLine): Promise<void> {
    const isFirst = line.n === (this.#run.starts_at ?? 0) - 1;
    if (this.#run.domain === "heap") return;
    if (!isFirst && !(await this.#base.follower.startsFromStates())) return;
    this.#restart = line;
    this.#held = [];
    if (this.#isFollowing) await this.#base.follower.leave();
    this.#isFollowing = false;
  }

  async #followHeld(): Promise<void> {
    if (!this.#isFollowing) await this.#base.open(this.#restart);
    this.#isFollowing = true;
    const lines = this.#held;
    this.#held = [];
    if (this.#base.follower.parting === null) await this.#base.follow(lines);
  }

  async #followQueued(): Promise<void> {
    const side = this.#candidate;
    if (side === null) return;
    if (!side.follower.isOpen && side.failure === null) await side.open(this.#recorded.beginning);
    const lines = this.#queued;
    this.#queued = [];
    await side.follow(lines);
  }

  async look(reader: LineSource): Promise<Look> {
    const line = this.#line;
    if (line === null) throw this.#beyond(reader);
    const base = await this.#baseLook(line);
    const candidate = await this.#candidateLook(line);
    const { parting } = this.#base.follower;
    return {
      run: this.#run,
      line,
      base,
      candidate,
      parting: this.#options.isBaseAsked === true ? null : parting,
      operations: this.#last + 1 - (this.#run.starts_at ?? 0),
      replayed: this.#base.follower.applied + (this.#candidate?.follower.applied ?? 0),
      isPartial: reader.truncated !== null || reader.ignoredKeys > 0,
    };
  }

  async #baseLook(line: OpLine): Promise<SideLook> {
    const isAsked = this.#options.isBaseAsked === true;
    const recorded = isAsked ? null : this.#recorded.look(line);
    if (recorded !== null) return recorded;
    let { before, after } = isAsked ? NO_STATES : this.#recorded.snapshots();
    const own = await this.#bothSides(line, before === null);
    const { parting } = this.#base.follower;
    const isTrusted = isAsked || parting === null;
    if (isTrusted) before ??= own.before;
    if (isTrusted) after ??= own.after;
    return {
      spec: isAsked ? this.#options.base.spec : null,
      answer: isAsked ? this.#base.answer : answerOf(line),
      failure: isAsked ? this.#base.failure : null,
      before,
      after,
      source: this.#sourceOf({ before, after }, isTrusted),
    };
  }

  #sourceOf({ before, after }: Snapshots, isTrusted: boolean): StateSource {
    const { parting } = this.#base.follower;
    if (before === null && after === null)
      return { from: "nowhere", why: whyNowhere(this.#run, this.#options.base.spec, parting) };
    return isTrusted ? this.#base.source() : { from: "trace" };
  }

  /** Follows to the operation and over it. */
  async #bothSides(line: OpLine, needsBefore: boolean): Promise<Snapshots> {
    await this.#followHeld();
    const isFirst = line.n === (this.#run.starts_at ?? 0) && this.#restart === null;
    const before = needsBefore && !isFirst ? await this.#base.snapshot() : null;
    if (this.#base.follower.parting === null || this.#options.isBaseAsked === true)
      await this.#base.follow([line]);
    const hasAnswered = this.#base.follower.n === line.n;
    return { before, after: hasAnswered ? await this.#base.snapshot() : null };
  }

  async #candidateLook(line: OpLine): Promise<SideLook | null> {
    const side = this.#candidate;
    if (side === null) return null;
    await this.#followQueued();
    const before = side.follower.n < 0 ? null : await side.snapshot();
    await side.follow([line]);
    const hasAnswered = side.follower.n === line.n;
    const after = hasAnswered ? await side.snapshot() : null;
    const { spec } = side.follower;
    const source: StateSource =
      before === null && after === null
        ? { from: "nowhere", why: whyNowhere(this.#run, spec, null) }
        : side.source();
    const answer = hasAnswered ? side.answer : null;
    return { spec, answer, failure: side.failure, before, after, source };
  }

  #beyond(reader: LineSource): Error {
    const { op, trace } = this.#options;
    const first = this.#run.starts_at ?? 0;
    const cut = reader.truncated === null ? "" : " before it is cut";
    if (this.#last < first) {
      const message = `run ${this.#run.run} holds no operation${cut}`;
      return new InputError("trace_structure", message, { file: trace });
    }
    const held = `operations ${String(first)} to ${String(this.#last)}`;
    return new UsageError(`--op ${String(op)}: run ${this.#run.run} holds ${held}${cut}`, held);
  }

  async dispose(): Promise<void> {
    await this.#base.dispose();
    await this.#candidate?.dispose();
  }
}

interface Snapshots {
  readonly before: Snapshot | null;
  readonly after: Snapshot | null;
}
const NO_STATES: Snapshots = { before: null, after: null };

function whyNowhere({ domain }: RunLine, spec: string, parting: Parting | null): string {
  if (parting !== null) {
    const how = parting.what === "failure" ? "breaks at" : "parts from the record at";
    return `${spec} ${how} operation ${String(parting.n)} (${parting.op}), so its state is not the run's`;
  }
  return domain === "heap"
    ? "no answer tells an address; --impl heap:first-fit (or best-fit, buddy, tlsf) places the objects"
    : `${spec} tells no state`;
}

/** What the trace itself tells of the operation and the arena around it. */
class Recorded {
  readonly #run: RunLine;
  readonly #op: number;
  readonly #geometry: GeometryTrack;
  readonly #heap: HeapTrack;
  #before: Snapshot | null = null;
  #after: Snapshot | null = null;
  /** The state that the run begins with. */
  beginning: StateLine | null = null;

  constructor(run: RunLine, op: number) {
    this.#run = run;
    this.#op = op;
    this.#geometry = new GeometryTrack(run);
    this.#heap = heapTrackOf(run);
  }

  operation(line: OpLine): void {
    if (this.#run.domain === "kv") this.#geometry.note(line, line);
    else {
      if (line.n === this.#op) this.#before = { kind: "heap", map: this.#heap.map() };
      this.#heap.note(line, line);
      if (line.n === this.#op) this.#after = { kind: "heap", map: this.#heap.map() };
    }
  }

  state({ n, state, kind }: StateLine): void {
    if (n === (this.#run.starts_at ?? 0) - 1) this.beginning = { kind, n, state };
    if (n === this.#op - 1) this.#before = snapshotOf(state, this.#geometry, n);
    if (n === this.#op) this.#after = snapshotOf(state, this.#geometry, n);
  }

  snapshots(): Snapshots {
    return { before: this.#before, after: this.#after };
  }

  /** The look where the trace tells all of it; null where an implementation has to be asked. */
  look(line: OpLine): SideLook | null {
    const isFirst = line.n === (this.#run.starts_at ?? 0);
    const isHeap = this.#run.domain === "heap";
    if (!isHeap && (this.#after === null || (this.#before === null && !isFirst))) return null;
    const isTold = !isHeap || this.#heap.tellsAddresses;
    const { before, after } = isTold ? this.snapshots() : NO_STATES;
    const why = whyNowhere(this.#run, "", null);
    return {
      ...{ spec: null, answer: answerOf(line), failure: null },
      before: isFirst ? null : before,
      after,
      source: isTold ? { from: "trace" } : { from: "nowhere", why },
    };
  }
}
