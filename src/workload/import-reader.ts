// Reads a foreign log as if it were a trace: lines of the log in, lines of a run out, with memory that follows the
// objects alive and not the log's length.
import type { HeaderLine } from "../trace/lines.js";
import type { LineBatch, ReaderOptions, TraceReader, Truncation } from "../trace/reader.js";
import type { ImportFormat, LogTranslator } from "./import-format.js";
import type { ImportCounts } from "./import-tally.js";
import { LineStream } from "./line-stream.js";

/** @public */
export interface ImportOptions extends ReaderOptions {
  readonly time?: boolean; // write `at_us`, the microseconds since the log began
  readonly arenaBytes?: number; // stands as `arena_bytes` in the run's configuration
}

/** An open log. Once its last batch is read, `counts` tells what became of its events. @public */
export interface ImportReader extends TraceReader {
  readonly format: string;
  counts(): ImportCounts;
}

const BATCH_LINES = 256;

/** @internal */
export class LogReader implements ImportReader {
  readonly path: string;
  readonly format: string;
  header: HeaderLine | null = null;
  readonly ignoredKeys = 0;
  readonly extensionKeys = 0;
  readonly truncated: Truncation | null = null;
  readonly #format: ImportFormat;
  readonly #translator: LogTranslator;
  readonly #lines: LineStream;
  #handedOut = 0; // lines of the trace so far
  #problem: Error | null = null; // met after lines that are not handed out yet
  #isOver = false;

  constructor(path: string, format: ImportFormat, options: ImportOptions) {
    this.path = path;
    this.format = format.name;
    this.#format = format;
    this.#translator = format.open({
      time: options.time ?? false,
      arenaBytes: options.arenaBytes ?? null,
    });
    this.#lines = new LineStream(path, options);
  }

  async readBatch(max = BATCH_LINES): Promise<LineBatch> {
    if (this.#problem !== null && this.#translator.ready.length === 0) throw this.#problem;
    while (this.#translator.ready.length < max && !this.#isOver) await this.#readOn(max);
    if (this.#problem !== null && this.#translator.ready.length === 0) throw this.#problem;
    const lines = this.#translator.ready.splice(0, max);
    for (const line of lines) if (line.kind === "trace") this.header = line;
    const first = this.#handedOut + 1;
    this.#handedOut += lines.length;
    return { lines, numbers: lines.map((_, index) => first + index) };
  }

  counts(): ImportCounts {
    return this.#translator.counts();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#problem = null;
    await this.#lines.close();
  }

  async #readOn(max: number): Promise<void> {
    try {
      for (let line = this.#lines.next(); line !== null; line = this.#lines.next()) {
        if (this.#format.isComment(line.text)) continue;
        this.#translator.take(line.text, { file: this.path, line: line.number });
        if (this.#translator.ready.length >= max) return;
      }
      if (await this.#lines.more()) return;
      this.#translator.finish(this.path);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#problem = error; // what is good before it comes first
    }
    this.#isOver = true;
  }
}
