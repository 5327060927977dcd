// Collects what the report page shows of one run: drives the sides operation by operation and notes what changes in their
// page maps. Memory follows the number of frames, not the length of the run.
import { InputError, UsageError } from "../../base/errors.js";
import type { Answer } from "../../base/operations.js";
import type { OpLine, RunLine, StateLine, TraceLine } from "../../trace/lines.js";
import { openTrace, type ReaderOptions, type TraceReader } from "../../trace/reader.js";
import type { AlignedBlock } from "../align/alignment.js";
import { noSuchRun } from "../compare-results.js";
import { Pulse, type ToolControl } from "../pulse.js";
import { TraceCursor } from "../trace-cursor.js";
import { directConfigOf } from "./geometry.js";
import { FrameList } from "./frame-list.js";
import { Labels } from "./labels.js";
import { Geometries, MapTracker } from "./map-changes.js";
import { type MapImplementation, MapSource } from "./map-source.js";
import { memoryTrace } from "./memory-trace.js";
import { type PairStep, PairWalk } from "./pairing.js";
import { PLACEMENTS_MAX, placementsOf } from "./placements.js";
import type {
  FrameSide,
  Placement,
  SideChanges,
  ViewData,
  ViewFrame,
  ViewSide,
} from "./view-data.js";

const BATCH = 256;
const FRAMES_MAX = 100_000;
const FRAMES_MIN = 500;
/** Frames times pages of the grids: what taking the maps may cost, about two minutes a side. */
const PAGES_LOOKED_AT_MAX = 3.5e7;

/** @public */
export interface CollectOptions extends ToolControl {
  readonly trace: string; // can be read again
  readonly lines?: readonly TraceLine[]; // of that trace, where it is no file
  readonly run: string | null; // null: the first
  /** Answers as the trace does, for the base's page maps; null: nothing does. */
  readonly base: MapImplementation | null;
  /** The other side: an implementation, or a second trace with what answers as it does; null: there is one side. */
  readonly candidate:
    | { readonly kind: "implementation"; readonly implementation: MapImplementation }
    | {
        readonly kind: "trace";
        readonly trace: string;
        readonly implementation: MapImplementation;
        readonly blocks?: readonly AlignedBlock[]; // past the first difference; default: all operations go in pairs
      }
    | null;
  readonly divergence: number | null; // operation
  readonly sameBefore?: number; // up to this operation, without it, both are known to be in the same state; default 0
  readonly focus: readonly number[]; // further operations whose neighbours are all shown
  readonly reader?: ReaderOptions;
  readonly framesMax?: number; // default 100,000
}

/** Throws `UsageError` for an unknown run and for one of another domain, `InputError` for a wrong file. @public */
export async function collectView(options: CollectOptions): Promise<ViewData> {
  const collection = new Collection(options);
  try {
    return await collection.collect();
  } finally {
    await collection.dispose();
  }
}

/** A run in a trace, at its first operation. */
interface OpenRun {
  readonly cursor: TraceCursor;
  readonly line: RunLine;
  readonly state: StateLine | null;
}

/** The first frames without a map, where several may stand at one operation. */
interface SideEnds {
  readonly base: number | null;
  readonly candidate: number | null;
}

const NOTHING = { op: "", args: {} } as const;

class Collection {
  readonly #options: CollectOptions;
  readonly #labels = new Labels();
  readonly #geometries = new Geometries();
  readonly #base: MapSource | null;
  readonly #candidate: MapSource | null;
  readonly #cursors: TraceCursor[] = [];
  readonly #pulse: Pulse;
  #frames: FrameList;
  #placements: readonly Placement[] = [];
  #behind: OpLine[] = []; // operations that the candidate was not asked yet
  #answer: Answer | undefined; // the candidate's last
  #ends: SideEnds = { base: null, candidate: null };
  #mirroredTo: number | null = null; // last operation of which the candidate's map is the base's as well

  constructor(options: CollectOptions) {
    const { base, candidate } = options;
    this.#options = options;
    this.#pulse = new Pulse(options);
    this.#base = base === null ? null : new MapSource(base, this.#tracker(), true);
    this.#candidate =
      candidate &&
      new MapSource(candidate.implementation, this.#tracker(), candidate.kind === "trace");
    this.#frames = this.#frameList(0);
  }

  async collect(): Promise<ViewData> {
    const { trace, candidate, run } = this.#options;
    const own = await this.#openRun(trace, run);
    const other =
      candidate?.kind === "trace" ? await this.#findRun(candidate.trace, own.line.run, []) : null;
    this.#frames = this.#frameList(pagesOf(own.line));
    this.#pulse.run = own.line.run;
    await this.#base?.open(own.line, own.state);
    if (candidate?.kind === "trace" && other === null)
      await this.#candidate?.end("the trace holds no such run");
    else await this.#candidate?.open((other ?? own).line, (other ?? own).state);
    const blocks = candidate?.kind === "trace" ? (candidate.blocks ?? []) : [];
    const walk =
      other === null || blocks.length === 0 ? null : new PairWalk(own.cursor, other.cursor, blocks);
    if (walk === null) await this.#read(own.cursor, other?.cursor ?? null);
    else await this.#readPaired(walk);
    const placements = this.#placements;
    return {
      run: own.line.run,
      pageTokens: directConfigOf(own.line)?.page_size ?? 1,
      base: this.#baseSide(),
      candidate: this.#candidateSide(),
      geometries: this.#geometries.list,
      labels: this.#labels.list,
      frames: this.#frames.frames,
      operations: this.#pulse.operations,
      ...(walk === null ? {} : { alone: walk.alone }),
      stride: this.#frames.stride,
      near: this.#frames.near,
      placements: placements.slice(0, PLACEMENTS_MAX),
      placementsLeft: Math.max(0, placements.length - PLACEMENTS_MAX),
    };
  }

  async dispose(): Promise<void> {
    await this.#base?.dispose();
    await this.#candidate?.dispose();
    for (const cursor of this.#cursors) await cursor.close();
  }

  #tracker(): MapTracker {
    return new MapTracker(this.#labels, this.#geometries);
  }

  #frameList(pages: number): FrameList {
    const { framesMax, divergence, focus } = this.#options;
    const affordable = Math.floor(PAGES_LOOKED_AT_MAX / Math.max(1, pages));
    const most = Math.min(framesMax ?? FRAMES_MAX, Math.max(FRAMES_MIN, affordable));
    return new FrameList({ most, focus: divergence === null ? focus : [divergence, ...focus] });
  }

  async #openRun(trace: string, wanted: string | null): Promise<OpenRun> {
    const known: string[] = [];
    const found = await this.#findRun(trace, wanted, known);
    if (found !== null) return found;
    if (wanted !== null) throw noSuchRun(wanted, trace, known);
    throw new InputError("trace_structure", "holds no runs", { file: trace });
  }

  /** @param known - takes the runs that were passed */
  async #findRun(trace: string, wanted: string | null, known: string[]): Promise<OpenRun | null> {
    const cursor = new TraceCursor(await this.#open(trace));
    this.#cursors.push(cursor);
    for (;;) {
      const line = await cursor.nextRun();
      if (line === null) return null;
      known.push(line.run);
      if (wanted !== null && line.run !== wanted) continue;
      if (line.domain !== "kv") {
        throw new UsageError(
          `run ${line.run} is of domain ${line.domain}: the page shows runs of domain kv`,
        );
      }
      return { cursor, line, state: await this.#firstState(cursor, line) };
    }
  }

  async #open(trace: string): Promise<TraceReader> {
    const { lines, reader } = this.#options;
    if (lines !== undefined && trace === this.#options.trace) return memoryTrace(trace, lines);
    return openTrace(trace, reader ?? {});
  }

  /** The state with which a run begins that kept only its last operations. */
  async #firstState(cursor: TraceCursor, line: RunLine): Promise<StateLine | null> {
    if ((line.starts_at ?? 0) === 0) return null;
    const state = await cursor.peek();
    if (state?.kind !== "state") return null;
    cursor.take();
    return state;
  }

  // Frames are the ends of stretches: a stretch is driven at once, and the maps are taken behind it.
  async #read(own: TraceCursor, other: TraceCursor | null): Promise<void> {
    let stretch: OpLine[] = [];
    for (;;) {
      const lines = await own.operations(BATCH);
      const isLast = lines.length < BATCH;
      for (const [index, line] of lines.entries()) {
        stretch.push(line);
        const isEnd = isLast && index === lines.length - 1;
        const isFull = stretch.length >= BATCH;
        if (!this.#frames.wants(line.n) && !isEnd && !isFull) continue;
        await this.#advance(stretch, other, this.#frames.wants(line.n) || isEnd);
        stretch = [];
      }
      if (this.#pulse.count(lines.length)) await this.#pulse.breathe();
      if (isLast) return;
    }
  }

  // As above, with stretches of both sides that may differ in length.
  async #readPaired(walk: PairWalk): Promise<void> {
    let stretch: PairStep[] = [];
    for (let step = await walk.next(); step !== null;) {
      const next = await walk.next();
      stretch.push(step);
      const isFrame = this.#frames.wants(step.n) || next === null;
      if (isFrame || stretch.length >= BATCH) {
        await this.#base?.apply(stretch.flatMap(({ base }) => base ?? []));
        this.#behind.push(...stretch.flatMap(({ candidate }) => candidate ?? []));
        if (this.#behind.length >= BATCH || !this.#isSame([step])) await this.#catchUp();
        stretch = [];
      }
      if (isFrame) this.#frames.add(await this.#pairedFrame(step));
      if (step.base !== null && this.#pulse.count(1)) await this.#pulse.breathe();
      step = next;
    }
  }

  async #pairedFrame({ base, candidate, n, m }: PairStep): Promise<ViewFrame> {
    const only = base === null ? "candidate" : candidate === null ? "base" : null;
    const { op, args } = base ?? candidate ?? NOTHING; // a step has one of them
    const [here, there] = await this.#changes(n, this.#isSame([{ n }]));
    if (only === null) this.#place(n);
    this.#ends = {
      base: this.#ends.base ?? (this.#base?.note === null ? null : n),
      candidate: this.#ends.candidate ?? (this.#candidate?.note === null ? null : n),
    };
    return {
      ...{ n, op, args: JSON.stringify(args), pair: { m, only } },
      base: sideOf(base ?? undefined, here),
      candidate: sideOf(candidate ?? undefined, there),
    };
  }

  async #advance(
    stretch: readonly OpLine[],
    other: TraceCursor | null,
    isFrame: boolean,
  ): Promise<void> {
    const lines = (await other?.operations(stretch.length)) ?? stretch;
    await this.#base?.apply(stretch);
    this.#behind.push(...lines);
    if (!this.#isSame(stretch) || this.#behind.length >= BATCH) await this.#catchUp();
    const line = stretch.at(-1);
    if (!isFrame || line === undefined) return;
    this.#frames.add(await this.#frame(line, other === null ? null : lines[stretch.length - 1]));
  }

  /** Whether both sides are known to be in the same state after a stretch, so that the base's map is enough. */
  #isSame(stretch: readonly Pick<OpLine, "n">[]): boolean {
    const n = stretch.at(-1)?.n ?? 0;
    const isKnown = this.#base !== null && this.#base.note === null;
    return isKnown && this.#candidate !== null && n < (this.#options.sameBefore ?? 0);
  }

  /** Drives the candidate to where the base is. */
  async #catchUp(): Promise<void> {
    const lines = this.#behind;
    this.#behind = [];
    if (lines.length === 0) return;
    const answers = (await this.#candidate?.apply(lines)) ?? [];
    this.#answer = answers[lines.length - 1];
  }

  /** @param told - the candidate's line of a second trace; null: it is an implementation */
  async #frame(line: OpLine, told: OpLine | null | undefined): Promise<ViewFrame> {
    const { n, op, args } = line;
    const isSame = this.#isSame([line]);
    const [here, there] = await this.#changes(n, isSame);
    const answer = told === null ? (isSame ? line : this.#answer) : told;
    this.#place(n);
    return {
      n,
      op,
      args: JSON.stringify(args),
      base: sideOf(line, here),
      candidate: this.#candidate === null ? null : sideOf(answer, there),
    };
  }

  /** What lies elsewhere after the operation at which the sides part. */
  #place(n: number): void {
    if (n !== this.#options.divergence || this.#base === null || this.#candidate === null) return;
    const areKnown = this.#base.knownTo === n && this.#candidate.knownTo === n;
    if (areKnown)
      this.#placements = placementsOf(this.#base.tracker, this.#candidate.tracker, this.#labels);
  }

  async #changes(
    n: number,
    isSame: boolean,
  ): Promise<readonly [SideChanges | null, SideChanges | null]> {
    const base = this.#base;
    const candidate = this.#candidate;
    const own = (await base?.changes(n)) ?? null;
    if (isSame && base !== null && candidate?.note === null && base.knownTo === n) {
      candidate.follow(base);
      return [own, own];
    }
    await this.#catchUp();
    const there = (await candidate?.changes(n)) ?? null;
    return [base === null ? this.#mirrored(n, there) : own, there];
  }

  // Before the first difference the candidate did as the trace says.
  #mirrored(n: number, changes: SideChanges | null): SideChanges | null {
    const { divergence } = this.#options;
    if (divergence !== null && n >= divergence) return null;
    this.#mirroredTo = this.#candidate?.knownTo ?? null;
    return changes;
  }

  #baseSide(): ViewSide {
    const { trace, base, candidate } = this.#options;
    if (base !== null) return sideInfo(trace, base.spec, this.#base, this.#ends.base);
    const by = candidate?.implementation.spec ?? "nothing";
    const knownTo = this.#mirroredTo;
    const note = "nothing is known that answers as the trace does: --base names what made it";
    const isEnded = this.#options.divergence !== null;
    return {
      name: trace,
      maps: `${by}, which answers alike up to the divergence`,
      knownTo,
      note: isEnded ? note : null,
    };
  }

  #candidateSide(): ViewSide | null {
    const { candidate } = this.#options;
    if (candidate === null) return null;
    const { spec } = candidate.implementation;
    const name = candidate.kind === "trace" ? candidate.trace : spec;
    return sideInfo(name, spec, this.#candidate, this.#ends.candidate);
  }
}

/** @param end - first frame without a map, of frames of which several may stand at one operation */
function sideInfo(
  name: string,
  maps: string,
  source: MapSource | null,
  end: number | null,
): ViewSide {
  const knownTo = source?.knownTo ?? null;
  const known = knownTo === null || end === null ? knownTo : Math.min(knownTo, end - 1);
  return { name, maps, knownTo: known, note: source?.note ?? null };
}

function sideOf(answer: Answer | undefined, changes: SideChanges | null): FrameSide {
  if (answer === undefined) return { answer: null, changes };
  const { ok, err, fx } = answer;
  const told = { ...(err === undefined ? { ok } : { err }), ...(fx && fx.length > 0 && { fx }) };
  return { answer: JSON.stringify(told), changes };
}

/** Pages on the grids of a run. */
function pagesOf(line: RunLine): number {
  const config = directConfigOf(line);
  if (config === null) return 0;
  let pages = 0;
  for (const { kind, unit_bytes: unit } of config.sub_pools)
    pages += Math.floor(config.arena_bytes / (unit * (kind === "state" ? 1 : config.page_size)));
  return pages;
}
