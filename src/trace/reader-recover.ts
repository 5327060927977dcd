// Reads what is whole of a damaged trace. A bad line ends its run at the operation before; what follows is passed over
// up to the next `run` line. What comes out is a legal trace: every run that has an operation is closed by an `end`.
import { foldDigests } from "../base/digest.js";
import { InputError } from "../base/errors.js";
import { FIXED_COMPONENTS } from "../base/operations.js";
import type { CallLine, HeaderLine, OpLine, RunLine, TraceLine } from "./lines.js";
import { LineParser } from "./parse-line.js";
import type { LineBatch, ReaderOptions } from "./reader.js";
import { LineFeed } from "./reader-lines.js";
import { openSource } from "./reader-source.js";
import type { ByteSource } from "./reader-source.js";
import { lineText, LineScan } from "./scan.js";
import { bandsOf } from "./digest-rules.js";
import { TraceStructure } from "./structure.js";

/** What was left out of a damaged trace, and why. @public */
export interface Recovery {
  /** The first few places, in order. */
  readonly damages: readonly Damage[];
  readonly damaged: number; // all places
  readonly droppedLines: number; // bad ones and those passed over behind them
  readonly droppedRuns: number; // without a whole operation, or whose `run` line is lost
  readonly droppedCalls: number; // asked and never answered; a mark stands in their place
  readonly closedRuns: number; // got an `end`
}

/** One place. @public */
export interface Damage {
  readonly run: string | null; // null: outside any run
  readonly operation: number | null; // last whole one of the run, null: none
  readonly line: number; // 1-based
  readonly message: string;
}

const DEFAULT_LINE_BYTES = 64 * 1024 * 1024;
const DEFAULT_DEPTH = 64;
const BATCH_LINES = 256;
const BATCH_BYTES = 1 << 20;
const DAMAGES_KEPT = 5;

/** A run that is being read. */
interface OpenRun {
  readonly line: RunLine;
  held: TraceLine[]; // before its first operation: a run without one is not written
  operations: number;
  readonly digests: Map<string, string>; // the last of each component
  bands: readonly string[] | null; // in chain order, as boot tells them
  calls: { readonly line: CallLine; isAnswered: boolean }[];
}

/** A reader as `openTrace` gives one, of what can be kept. Lines have no numbers of their own file any more. @internal */
export class RecoveringReader {
  readonly path: string;
  header: HeaderLine | null = null;
  readonly #source: ByteSource;
  readonly #feed: LineFeed;
  readonly #parser: LineParser;
  readonly #scan = new LineScan();
  readonly #structure = new TraceStructure();
  #run: OpenRun | null = null;
  #isPassing = false; // up to the next run
  #isOver = false;
  readonly #names = new Set<string>();
  readonly #damages: Damage[] = [];
  #noted = 0; // line of the last one
  readonly #signal: AbortSignal | undefined;
  readonly #counts = {
    damaged: 0,
    droppedLines: 0,
    droppedRuns: 0,
    droppedCalls: 0,
    closedRuns: 0,
  };

  /** Throws `InputError`, `EnvironmentError`. */
  constructor(path: string, options: ReaderOptions = {}) {
    this.path = path;
    this.#signal = options.signal;
    const { stdin, signal } = options;
    this.#source = openSource(path, { stdin, signal, isTorn: true });
    this.#feed = new LineFeed(this.#source, path, options.maxLineBytes ?? DEFAULT_LINE_BYTES);
    this.#parser = new LineParser({
      file: path,
      maxDepth: options.maxDepth ?? DEFAULT_DEPTH,
      lenient: options.lenient ?? false,
      validate: true,
    });
  }

  get ignoredKeys(): number {
    return this.#parser.tally.ignoredKeys;
  }
  get recovery(): Recovery {
    return { damages: this.#damages, ...this.#counts };
  }

  /** The next lines; none at the end. Throws `InputError` where nothing can be read at all. */
  async readBatch(): Promise<Pick<LineBatch, "lines">> {
    const lines: TraceLine[] = [];
    let bytes = 0;
    while (!this.#isOver && lines.length < BATCH_LINES && bytes < BATCH_BYTES) {
      this.#signal?.throwIfAborted();
      if (!(await this.#advance(lines))) break;
      bytes += this.#feed.end - this.#feed.start;
      this.#take(lines);
    }
    // a stretch that is passed over is no end
    return lines.length === 0 && !this.#isOver ? this.readBatch() : { lines };
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#source.close();
  }

  /** Goes to the next line; false at the end, which a packing that is damaged or a line that is too long is too. */
  async #advance(lines: TraceLine[]): Promise<boolean> {
    try {
      while (!this.#feed.advance()) {
        if (await this.#feed.fill()) continue;
        this.#finish(lines, this.#source.isCut ? "the packed file is cut" : null);
        return false;
      }
      return true;
    } catch (error) {
      if (!(error instanceof InputError) || this.header === null) throw error;
      this.#counts.droppedLines += error.code === "trace_limit" ? 1 : 0;
      this.#finish(lines, error.message);
      return false;
    }
  }

  /** Reads the feed's line. */
  #take(lines: TraceLine[]): void {
    const isPassing = this.#isPassing;
    let line: TraceLine;
    try {
      line = this.#parse();
      if (isPassing && line.kind !== "run") {
        this.#counts.droppedLines += 1;
        return;
      }
      this.#accept(line, lines);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      if (this.header === null) throw error; // what it is cannot be told
      this.#counts.droppedLines += 1;
      if (!isPassing) this.#damage(error.message, lines);
    }
  }

  #parse(): TraceLine {
    const { room, start, end, number } = this.#feed;
    this.#scan.look(room, start, end);
    const text = lineText(room, start, end, this.#scan.isAscii);
    if (text === null) throw this.#parser.error("trace_not_json", "not UTF-8", number);
    return this.#parser.parse(text, this.#scan, number, this.#structure.words);
  }

  #accept(line: TraceLine, lines: TraceLine[]): void {
    const { number } = this.#feed;
    if (line.kind === "run") {
      if (this.#structure.run !== null) {
        this.#note("no end line before the next run");
        this.#closeRun(lines);
      }
      if (this.#names.has(line.run)) {
        this.#counts.droppedRuns += 1;
        this.#isPassing = true;
        throw this.#parser.error("trace_structure", `a second run is named "${line.run}"`, number);
      }
    }
    const wrong = this.#structure.accept(line);
    if (wrong !== null) {
      throw this.#parser.error(wrong.code, wrong.message, number, wrong.problem);
    }
    this.#isPassing = false;
    if (line.kind === "trace") {
      this.header = line;
      lines.push(line);
    } else if (line.kind === "run") this.#open(line);
    else this.#follow(line, lines);
  }

  #open(line: RunLine): void {
    this.#names.add(line.run);
    this.#run = {
      line,
      held: [line],
      operations: 0,
      digests: new Map(),
      bands: null,
      calls: [],
    };
  }

  #follow(line: Exclude<TraceLine, HeaderLine | RunLine>, lines: TraceLine[]): void {
    const run = this.#run;
    if (run === null) return;
    if (line.kind === "op") this.#operation(run, line);
    if (line.kind === "call") run.calls.push({ line, isAnswered: false });
    if (line.kind === "end") {
      // an end that stands though something was never answered
      this.#giveCalls(run);
      this.#give(run, lines);
      lines.push(line);
      this.#run = null;
      return;
    }
    run.held.push(line);
    if (run.operations > 0 && run.calls.every(({ isAnswered }) => isAnswered)) {
      this.#give(run, lines);
    } else if (run.operations > 0) this.#giveAnswered(run, lines);
  }

  #operation(run: OpenRun, line: OpLine): void {
    run.operations += 1;
    const call = run.calls.find(({ isAnswered }) => !isAnswered);
    if (call !== undefined) call.isAnswered = true;
    if (line.op === "boot" && line.ok !== undefined) run.bands = bandsOf(line.ok);
    for (const [name, digest] of Object.entries(line.digest ?? {})) run.digests.set(name, digest);
  }

  #give(run: OpenRun, lines: TraceLine[]): void {
    if (run.operations > 0) lines.push(...run.held);
    run.held = [];
    run.calls = [];
  }

  /** Lines before the first call that has no answer yet. */
  #giveAnswered(run: OpenRun, lines: TraceLine[]): void {
    const first = run.calls.find(({ isAnswered }) => !isAnswered);
    const end = first === undefined ? run.held.length : run.held.indexOf(first.line);
    lines.push(...run.held.splice(0, end));
    run.calls = run.calls.filter(({ isAnswered }) => !isAnswered);
  }

  /** Calls that were never answered become marks. */
  #giveCalls(run: OpenRun): void {
    const open = new Set<TraceLine>();
    for (const { line, isAnswered } of run.calls) if (!isAnswered) open.add(line);
    if (open.size === 0) return;
    this.#counts.droppedCalls += open.size;
    const first = run.calls.find(({ isAnswered }) => !isAnswered);
    run.held = run.held.filter((line) => !open.has(line));
    if (first === undefined) return;
    const { n, op } = first.line;
    const others = open.size === 1 ? "" : `, and ${open.size - 1} after it`;
    run.held.push({ kind: "mark", n, text: `${op} was asked and never answered${others}` });
  }

  #damage(message: string, lines: TraceLine[]): void {
    this.#note(message);
    this.#closeRun(lines);
    this.#isPassing = true;
  }

  #note(message: string): void {
    this.#noted = this.#feed.number;
    this.#counts.damaged += 1;
    if (this.#damages.length >= DAMAGES_KEPT) return;
    const run = this.#run;
    const operation =
      run === null || run.operations === 0 ? null : (run.line.starts_at ?? 0) + run.operations - 1;
    const name = run?.line.run ?? null;
    this.#damages.push({ run: name, operation, line: this.#feed.number, message });
  }

  #closeRun(lines: TraceLine[]): void {
    this.#structure.abandon();
    const run = this.#run;
    this.#run = null;
    if (run === null) return;
    if (run.operations === 0) {
      this.#counts.droppedRuns += 1;
      this.#counts.droppedLines += run.held.length;
      return;
    }
    this.#giveCalls(run);
    this.#give(run, lines);
    // a run that begins with a state lists all components in its first digest, in their order
    const names = run.bands === null ? run.digests.keys() : [...run.bands, ...FIXED_COMPONENTS];
    const digest =
      run.digests.size === 0
        ? {}
        : { digest: foldDigests(Array.from(names, (name) => run.digests.get(name) ?? NOTHING)) };
    lines.push({ kind: "end", run: run.line.run, ops: run.operations, ...digest });
    this.#counts.closedRuns += 1;
  }

  #finish(lines: TraceLine[], problem: string | null): void {
    this.#isOver = true;
    if (this.header === null) {
      const message = "holds no first line that is whole: nothing can be recovered";
      throw new InputError("trace_truncated", message, { file: this.path });
    }
    // a last line that is cut was told already
    if (problem !== null && this.#noted !== this.#feed.number) this.#note(problem);
    else if (this.#run !== null) this.#note("no end line");
    this.#closeRun(lines);
  }
}

const NOTHING = "0000000000000000";
