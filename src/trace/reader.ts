// Reads a trace: bytes in, validated lines out, with memory independent of the file's length.
import { setImmediate } from "node:timers/promises";
import { InputError } from "../base/errors.js";
import type { HeaderLine, TraceLine } from "./lines.js";
import { isCutLine } from "./messages.js";
import { LineParser } from "./parse-line.js";
import { HeldLines } from "./reader-held.js";
import { LineFeed } from "./reader-lines.js";
import type { TraceResume } from "./reader-equal.js";
import type { ByteSource } from "./reader-source.js";
import { openSource } from "./reader-source.js";
import { latin1, lineText, LineScan } from "./scan.js";
import { TraceStructure } from "./structure.js";

/** @public */
export interface ReaderOptions {
  readonly maxLineBytes?: number; // default 64 MiB
  readonly maxDepth?: number; // nesting, default 64
  readonly lenient?: boolean; // unknown keys are dropped and counted instead of refused
  readonly acceptTruncated?: boolean; // a truncated file gives its complete prefix instead of an error
  readonly validate?: boolean; // default true; false: only JSON, kinds of line and structure are looked at
  readonly stdin?: NodeJS.ReadableStream; // what "-" reads
  readonly signal?: AbortSignal; // aborted: reading ends with its reason, also where no bytes come
  /** An `op` line may come with its answer not parsed yet: a `HeldLine`, which stands for it. @internal */
  readonly holdsAnswers?: boolean;
  readonly resume?: TraceResume; // begin at a later run, of which the header and the runs before it are known
}

/** Where a truncated file stops. @public */
export interface Truncation {
  readonly run: string | null; // null: outside any run
  readonly operation: number | null; // last complete operation of the run, null: none
  readonly line: number; // where it was noticed, 1-based
  readonly message: string; // the whole of it in words
}

/** Lines with their 1-based numbers; empty at the end of the trace. @public */
export interface LineBatch {
  readonly lines: readonly TraceLine[];
  readonly numbers: readonly number[];
}

/** An open trace. Lines come in order; `close` may be called at any time and twice. @public */
export interface TraceReader {
  readonly path: string;
  /** The header, known once the first batch has been read. */
  readonly header: HeaderLine | null;
  readonly ignoredKeys: number; // unknown keys dropped under `lenient`
  readonly extensionKeys: number; // `x_` keys seen
  /**
   * The first truncation, only with `acceptTruncated`. A run whose end is missing inside the file is followed by the
   * next `run` line without an `end` line between them.
   */
  readonly truncated: Truncation | null;
  /**
   * At most `max` lines; fewer where a stretch of input ends, or where a bad line follows: what is good before it comes
   * first, then `InputError` is thrown.
   */
  readBatch(max?: number): Promise<LineBatch>;
  close(): Promise<void>;
  /** With `holdsAnswers`: what comes from now on is parsed. @internal */
  stopHolding?(): void;
}

const DEFAULT_LINE_BYTES = 64 * 1024 * 1024;
const DEFAULT_DEPTH = 64;
const BEFORE_KIND = '{"kind":"';
const NOTHING = { lines: 0, bytes: 0 };
const BETWEEN_RUNS = "ert"; // end, run, trace
const WITHIN_RUNS = "ocms"; // op, call, mark, state
const BATCH_LINES = 256; // more live longer in memory, which costs more than it saves
const YIELD_BATCHES = 32;
const BATCH_BYTES = 1 << 20; // keeps memory bounded where lines are long

/** Opens a trace file, or standard input for `-`. Throws `InputError`, `EnvironmentError` for `.zst`. @public */
export async function openTrace(path: string, options: ReaderOptions = {}): Promise<TraceReader> {
  const { signal, resume } = options;
  const stdin = path === "-" ? options.stdin : undefined;
  return new FileTraceReader(
    path,
    openSource(path, { stdin, signal, start: resume?.offset }),
    options,
  );
}

class FileTraceReader implements TraceReader {
  readonly path: string;
  header: HeaderLine | null = null;
  truncated: Truncation | null = null;
  readonly #source: ByteSource;
  readonly #feed: LineFeed;
  readonly #parser: LineParser;
  readonly #structure = new TraceStructure();
  readonly #scan = new LineScan();
  readonly #acceptTruncated: boolean;
  readonly #signal: AbortSignal | undefined;
  #batches = 0;
  #isOver = false;
  readonly #held: HeldLines | null;
  #isAhead = false; // the feed's line was not read yet
  #given: typeof NOTHING = NOTHING; // of a batch that comes in two parts
  #problem: Error | null = null; // met after lines that are not handed out yet

  constructor(path: string, source: ByteSource, options: ReaderOptions) {
    this.path = path;
    this.#source = source;
    this.#feed = new LineFeed(source, path, options.maxLineBytes ?? DEFAULT_LINE_BYTES);
    this.#parser = new LineParser({
      file: path,
      maxDepth: options.maxDepth ?? DEFAULT_DEPTH,
      lenient: options.lenient ?? false,
      validate: options.validate ?? true,
    });
    this.#acceptTruncated = options.acceptTruncated ?? false;
    this.#held = mayHold(options) ? new HeldLines(this.#parser, this.#structure) : null;
    this.#signal = options.signal;
    const { resume } = options;
    if (resume === undefined) return;
    this.header = resume.header;
    this.#feed.number = resume.line - 1;
    this.#structure.resume(resume.runs);
  }

  get ignoredKeys(): number {
    return this.#parser.tally.ignoredKeys;
  }
  get extensionKeys(): number {
    return this.#parser.tally.extensionKeys;
  }

  async readBatch(max = BATCH_LINES): Promise<LineBatch> {
    this.#held?.settle();
    if (this.#problem !== null) throw this.#problem;
    // a plain file never waits: let signals and timers in now and then
    this.#batches += 1;
    if (this.#batches % YIELD_BATCHES === 0) {
      await setImmediate();
      this.#signal?.throwIfAborted();
    }
    const lines: TraceLine[] = [];
    const numbers: number[] = [];
    try {
      await this.#readInto(lines, numbers, max);
    } catch (error) {
      if (error instanceof Error) this.#problem = error;
      if (lines.length === 0) throw error; // else the lines before it come first
    }
    return { lines, numbers };
  }

  async #readInto(lines: TraceLine[], numbers: number[], max: number): Promise<void> {
    const feed = this.#feed;
    const before = this.#given;
    this.#given = NOTHING;
    const most = Math.max(1, max - before.lines);
    let { bytes } = before;
    while (!this.#isOver && lines.length < most && bytes < BATCH_BYTES) {
      if (this.#isAhead) this.#isAhead = false;
      else if (!feed.advance()) {
        const more = feed.fill();
        if (typeof more === "boolean" ? more : await more) continue;
        this.#finish();
        return;
      }
      const held = this.#held?.take(feed) ?? null;
      if (held === null && this.#mustWait()) {
        this.#isAhead = true;
        this.#given = { lines: before.lines + lines.length, bytes };
        return;
      }
      const line = held === null ? this.#readLine() : held.asLine();
      if (line === null) return;
      bytes += feed.end - feed.start;
      lines.push(line);
      numbers.push(feed.number);
    }
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#problem = null;
    this.#held?.forget();
    await this.#source.close();
  }

  stopHolding(): void {
    this.#held?.stop();
  }

  // The end of a run is judged by all of its lines: it waits until they are settled. So does what may be one, written
  // otherwise, but such a line is rare and settles them at once.
  #mustWait(): boolean {
    if (this.#held?.isPending !== true) return false;
    const { room, start } = this.#feed;
    const front = latin1(room.bytes, start, start + BEFORE_KIND.length + 1);
    const isPlain = front.startsWith(BEFORE_KIND);
    const kind = front.at(-1)!;
    if (isPlain && WITHIN_RUNS.includes(kind)) return false;
    if (isPlain && BETWEEN_RUNS.includes(kind)) return true;
    this.#held.settle();
    return false;
  }

  /** The feed's current line, or null where the file turns out to be cut inside it. */
  #readLine(): TraceLine | null {
    const feed = this.#feed;
    if (feed.number === 1) this.#refuseByteOrderMark();
    this.#scan.look(feed.room, feed.start, feed.end);
    let text: string | null = null;
    let line: TraceLine;
    try {
      text = this.#text();
      line = this.#parser.parse(text, this.#scan, feed.number, this.#structure.words);
    } catch (error) {
      if (feed.isWhole || !isNotJson(error)) throw error;
      // a character that is cut leaves no text at all
      if (text !== null && !isCutLine(text, feed.number)) throw error;
      const filled = text?.includes("\0") === true ? ", NUL bytes stand in its place" : "";
      this.#truncate(`the last line is cut${filled}`, feed.number);
      this.#isOver = true;
      return null;
    }
    if (line.kind === "run" && this.#structure.run !== null) {
      this.#truncate("no end line before the next run", feed.number);
      this.#structure.abandon();
    }
    if (line.kind === "trace") this.#header(line);
    const wrong = this.#structure.accept(line);
    if (wrong !== null) {
      throw this.#parser.error(wrong.code, wrong.message, feed.number, wrong.problem, text);
    }
    return line;
  }

  #header(line: HeaderLine): void {
    const { header } = this;
    if (header !== null && header.version !== line.version) {
      const message = `a second "trace" line, of version ${line.version} in a file of version ${header.version}`;
      throw this.#parser.error("trace_version", message, this.#feed.number);
    }
    this.header ??= line;
  }

  #text(): string {
    const { room, start, end, number } = this.#feed;
    const text = lineText(room, start, end, this.#scan.isAscii);
    if (text === null) throw this.#parser.error("trace_not_json", "not UTF-8", number);
    return text;
  }

  #refuseByteOrderMark(): void {
    const { room, start, end } = this.#feed;
    const { bytes } = room;
    const [first, second, third] = bytes.subarray(start, Math.min(end, start + 3));
    const where = { file: this.path, line: 1 };
    if (first === 0xef && second === 0xbb && third === 0xbf) {
      const message = "begins with a byte order mark: save it as UTF-8 without one";
      throw new InputError("trace_not_json", message, where);
    }
    if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
      const message = "begins with the byte order mark of UTF-16: save it as UTF-8";
      throw new InputError("trace_not_json", message, where);
    }
    if (first === 0x1f && second === 0x8b) {
      const message =
        this.path === "-"
          ? "is compressed with gzip: unpack it first (gunzip -c FILE.gz | …), or name the .gz file"
          : "is compressed with gzip: its name must end in .gz";
      throw new InputError("trace_not_json", message, where);
    }
  }

  #finish(): void {
    this.#isOver = true;
    const { number } = this.#feed;
    if (number === 0 && this.#source.isCut) {
      const message = "truncated before the first line: the packed file is cut";
      throw new InputError("trace_truncated", message, { file: this.path });
    }
    if (number === 0) {
      const message = 'is empty: a trace begins with a "trace" line';
      throw new InputError("trace_structure", message, { file: this.path });
    }
    if (this.#structure.run !== null) this.#truncate("no end line", number);
    else if (this.#source.isCut) this.#truncate("the packed file is cut", number);
  }

  /** Notes, or throws, that the file stops too early. */
  #truncate(reason: string, line: number): void {
    const { run, lastOperation: operation } = this.#structure;
    const where =
      run === null
        ? this.#structure.isEmpty
          ? "truncated inside the first line"
          : "truncated outside any run"
        : operation === null
          ? `truncated before the first operation of run ${run}`
          : `truncated after operation ${operation} of run ${run}`;
    const message = `${where}: ${reason}`;
    if (!this.#acceptTruncated) throw this.#parser.error("trace_truncated", message, line);
    this.truncated ??= { run, operation, line, message };
  }
}

// Whoever asks for more or less than the format's own rules gets every line read by them.
function mayHold({
  holdsAnswers,
  lenient,
  validate,
  acceptTruncated,
  maxDepth,
}: ReaderOptions): boolean {
  const isPlain = lenient !== true && validate !== false && acceptTruncated !== true;
  return holdsAnswers === true && isPlain && (maxDepth ?? DEFAULT_DEPTH) >= DEFAULT_DEPTH;
}

function isNotJson(error: unknown): boolean {
  return error instanceof InputError && error.code === "trace_not_json";
}
