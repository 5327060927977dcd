// Lines of a text file, packed or not, streamed: memory follows the longest line, not the file.
import { InputError } from "../base/errors.js";
import { LineFeed } from "../trace/reader-lines.js";
import type { ByteSource } from "../trace/reader-source.js";
import { openSource } from "../trace/reader-source.js";
import { lineText, LineScan } from "../trace/scan.js";

const LINE_BYTES_MAX = 64 * 1024 * 1024;
const DEPTH_MAX = 64;

/** One line of text. @internal */
export interface TextLine {
  readonly text: string;
  readonly number: number; // 1-based
}

/** What a stream of lines is told beside its file. @internal */
export interface LineStreamOptions {
  readonly signal?: AbortSignal | undefined;
  readonly stdin?: NodeJS.ReadableStream | undefined; // what "-" reads
  readonly maxLineBytes?: number | undefined; // default 64 MiB
}

/**
 * The lines of one file, pulled; line ends are LF or CRLF, and a last line without one counts. `next` throws `InputError`
 * for a file that cannot be read or unpacked, and for a line that is too long, nested deeper than 64 or not UTF-8; the
 * reason of `signal` once that is aborted. @internal
 */
export class LineStream {
  readonly file: string;
  readonly #source: ByteSource;
  readonly #feed: LineFeed;
  readonly #scan = new LineScan();
  readonly #signal: AbortSignal | undefined;

  constructor(file: string, options: LineStreamOptions = {}) {
    this.file = file;
    this.#signal = options.signal;
    this.#source = openSource(file, options);
    const most = options.maxLineBytes ?? LINE_BYTES_MAX;
    this.#feed = new LineFeed(this.#source, file, most, undefined, "input_format");
  }

  /** The next line that is already in memory; null: `more` is needed. */
  next(): TextLine | null {
    const feed = this.#feed;
    if (!feed.advance()) return null;
    if (!feed.isWhole && this.#source.isCut) return null; // no line, but half of one
    this.#scan.look(feed.room, feed.start, feed.end);
    return { text: textOf(this.file, feed, this.#scan), number: feed.number };
  }

  /** Reads on; false at the end of the file. */
  async more(): Promise<boolean> {
    const more = this.#feed.fill();
    // a plain file never waits: let signals in
    if (typeof more === "boolean") await new Promise((resolve) => setImmediate(resolve));
    this.#signal?.throwIfAborted();
    if (await more) return true;
    if (this.#source.isCut) {
      throw new InputError("input_unreadable", "is not a whole gzip file", { file: this.file });
    }
    return false;
  }

  async close(): Promise<void> {
    await this.#source.close();
  }
}

/** Gives each line to `take` until it answers false. Throws as `LineStream` does. @internal */
export async function eachLine(
  file: string,
  take: (line: string, number: number) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  const lines = new LineStream(file, { signal });
  try {
    do {
      for (let line = lines.next(); line !== null; line = lines.next()) {
        if (!take(line.text, line.number)) return;
      }
    } while (await lines.more());
  } finally {
    await lines.close();
  }
}

function textOf(file: string, feed: LineFeed, scan: LineScan): string {
  const place = { file, line: feed.number };
  if (scan.depth > DEPTH_MAX && !scan.isExact) scan.lookExactly();
  if (scan.depth > DEPTH_MAX) {
    const message = `nested ${scan.depth} levels deep, at most ${DEPTH_MAX} are read`;
    throw new InputError("input_format", message, place);
  }
  const text = lineText(feed.room, feed.start, feed.end, scan.isAscii);
  if (text === null) throw new InputError("input_format", "not UTF-8", place);
  return text;
}
