// Lines of a text file, packed or not, streamed: memory follows the longest line, not the file.
import { InputError } from "../base/errors.js";
import { LineFeed } from "../trace/reader-lines.js";
import type { ByteSource } from "../trace/reader-source.js";
import { openSource } from "../trace/reader-source.js";
import { lineText, LineScan } from "../trace/scan.js";

const LINE_BYTES_MAX = 64 * 1024 * 1024;
const DEPTH_MAX = 64;

/**
 * Gives each line with its 1-based number to `take` until it answers false; line ends are LF or CRLF, and a last line
 * without one counts. Throws `InputError` for a file that cannot be read or unpacked, and for a line that is over 64 MiB,
 * nested deeper than 64 or not UTF-8; the reason of `signal` once that is aborted. @internal
 */
export async function eachLine(
  file: string,
  take: (line: string, number: number) => boolean,
  signal?: AbortSignal,
): Promise<void> {
  const source = openSource(file, { signal });
  try {
    await readLines(file, source, take, signal);
  } finally {
    await source.close();
  }
}

async function readLines(
  file: string,
  source: ByteSource,
  take: (line: string, number: number) => boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const feed = new LineFeed(source, file, LINE_BYTES_MAX, undefined, "input_format");
  const scan = new LineScan();
  for (;;) {
    while (feed.advance()) {
      if (!feed.isWhole && source.isCut) break; // no line, but half of one
      scan.look(feed.room, feed.start, feed.end);
      if (!take(textOf(file, feed, scan), feed.number)) return;
    }
    const more = feed.fill();
    // a plain file never waits: let signals in
    if (typeof more === "boolean") await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    if (!(await more)) break;
  }
  if (source.isCut) {
    throw new InputError("input_unreadable", "is not a whole gzip file", { file });
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
