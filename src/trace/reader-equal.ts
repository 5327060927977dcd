// What two trace files have in common from their first run on, found by comparing bytes. Of a line that is the same on
// both sides only the frame is looked at: that it is an operation of the run's domain with the number that must come, an
// object to the end of the line; refusals, and everything that is no operation, are read in full. A run counts once it
// is whole. Whatever is unusual ends the search: the ordinary way goes on from the beginning of that run.
import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { InputError } from "../base/errors.js";
import { EqualLines } from "./reader-equal-lines.js";
import type { EqualRun } from "./reader-equal-lines.js";
import type { HeaderLine } from "./lines.js";
import type { ByteSource, SourceOptions } from "./reader-source.js";
import { openSource } from "./reader-source.js";
import { LineParser } from "./parse-line.js";
import { lineBytes, lineText, LineScan } from "./scan.js";
import type { LineBytes } from "./scan.js";

const LINE_FEED = 10;
const ROOM_BYTES = 1 << 20; // longer lines are left to the ordinary way
const YIELD_BLOCKS = 16;

/** Where the ordinary reading of a trace goes on: the beginning of a run. @internal */
export interface TraceResume {
  readonly offset: number; // bytes, after unpacking
  readonly line: number; // 1-based number of the line there
  readonly header: HeaderLine;
  readonly runs: readonly string[]; // that stand before it
}

/** @internal */
export interface EqualPart {
  readonly headers: readonly [base: HeaderLine, candidate: HeaderLine];
  readonly runs: readonly EqualRun[];
  readonly kinds: ReadonlySet<string>; // of operations
  readonly hasEffects: boolean;
  readonly hasDigests: boolean;
  readonly isWhole: boolean; // nothing is left to be compared
  readonly resume: readonly [base: TraceResume, candidate: TraceResume];
}

/** @internal */
export interface EqualOptions extends SourceOptions {
  readonly onOperations?: (count: number, run: string | null) => void; // since the call before
}

/** Whether both are plain files of at least so many bytes. @internal */
export function areLargeFiles(paths: readonly string[], bytes: number): boolean {
  return paths.every((path) => {
    const stat = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size >= bytes;
  });
}

/**
 * Reads as far as both files are the same behind their first lines. Null where a first line is not as it should be:
 * the ordinary way says what is wrong. @internal
 */
export async function readEqualPart(
  base: string,
  candidate: string,
  options: EqualOptions = {},
): Promise<EqualPart | null> {
  const sides = [new Blocks(base, options), new Blocks(candidate, options)] as const;
  try {
    const headers = [await sides[0].header(), await sides[1].header()] as const;
    if (headers[0] === null || headers[1] === null) return null;
    return await new EqualReading(sides, [headers[0], headers[1]], options).run();
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  } finally {
    for (const side of sides) await side.close();
  }
}

class EqualReading {
  readonly #base: Blocks;
  readonly #candidate: Blocks;
  readonly #headers: readonly [HeaderLine, HeaderLine];
  readonly #options: EqualOptions;
  readonly #lines: EqualLines;
  #blocks = 0;

  constructor(
    [base, candidate]: readonly [Blocks, Blocks],
    headers: readonly [HeaderLine, HeaderLine],
    options: EqualOptions,
  ) {
    this.#base = base;
    this.#candidate = candidate;
    this.#headers = headers;
    this.#options = options;
    this.#lines = new EqualLines(base.path, base.headerBytes);
  }

  async run(): Promise<EqualPart> {
    let isWhole = false;
    for (;;) {
      await this.#breathe();
      const [left, right] = [await this.#base.more(), await this.#candidate.more()];
      const count = Math.min(left, right);
      if (count === 0) {
        isWhole = left === right && this.#base.isAtLineStart && this.#lines.isBetweenRuns;
        break;
      }
      const same = this.#base.sameBytes(this.#candidate, count);
      this.#base.compared += same;
      this.#candidate.compared += same;
      this.#candidate.lineStart = this.#candidate.compared;
      if (!this.#base.eachLine(this.#lines) || same < count) break;
    }
    return this.#result(isWhole);
  }

  async #breathe(): Promise<void> {
    this.#blocks += 1;
    if (this.#blocks % YIELD_BLOCKS !== 0) return;
    this.#options.onOperations?.(this.#lines.takeCount(), this.#lines.run);
    await setImmediate();
    this.#options.signal?.throwIfAborted();
  }

  #result(isWhole: boolean): EqualPart {
    const { runs, kinds, hasEffects, hasDigests, place } = this.#lines;
    const names = runs.map(({ line }) => line.run);
    const [base, candidate] = this.#headers;
    const resume = { line: place.line, runs: names };
    // both sides are the same behind their first lines, which need not be equally long
    const shift = this.#candidate.headerBytes - this.#base.headerBytes;
    return {
      headers: this.#headers,
      runs,
      kinds,
      hasEffects,
      hasDigests,
      isWhole,
      resume: [
        { ...resume, header: base, offset: place.offset },
        { ...resume, header: candidate, offset: place.offset + shift },
      ],
    };
  }
}

/** One side, block by block. */
class Blocks {
  readonly path: string;
  readonly #source: ByteSource;
  readonly #room: LineBytes = lineBytes(ROOM_BYTES);
  #filled = 0; // bytes [0, filled) are read
  compared = 0; // bytes [0, compared) are the same on both sides, or a first line
  lineStart = 0; // bytes before it are done with
  offset = 0; // of the room's first byte in the file
  headerBytes = 0;

  constructor(path: string, options: SourceOptions) {
    this.path = path;
    this.#source = openSource(path, options);
  }

  get isAtLineStart(): boolean {
    return this.lineStart === this.compared;
  }

  /** The first line, once it is valid; null where it is none. */
  async header(): Promise<HeaderLine | null> {
    await this.more();
    const { bytes } = this.#room;
    let end = bytes.subarray(0, this.#filled).indexOf(LINE_FEED);
    while (end < 0) {
      const before = this.#filled;
      await this.more();
      if (this.#filled === before) return null;
      end = bytes.subarray(0, this.#filled).indexOf(LINE_FEED);
    }
    const scan = new LineScan();
    scan.look(this.#room, 0, end);
    const text = lineText(this.#room, 0, end, scan.isAscii);
    if (text === null) return null;
    const parser = new LineParser({
      file: this.path,
      maxDepth: 64,
      lenient: false,
      validate: true,
    });
    const line = parser.parse(text, scan, 1, null);
    if (line.kind !== "trace") return null;
    this.compared = end + 1;
    this.lineStart = end + 1;
    this.headerBytes = end + 1;
    return line;
  }

  /** Reads on where there is room; the number of bytes that are not compared yet, 0 at the end of the file. */
  async more(): Promise<number> {
    const { bytes } = this.#room;
    if (this.lineStart > 0) {
      bytes.copyWithin(0, this.lineStart, this.#filled);
      this.#filled -= this.lineStart;
      this.compared -= this.lineStart;
      this.offset += this.lineStart;
      this.lineStart = 0;
    }
    while (this.#filled < bytes.length) {
      const read = await this.#source.fill(bytes, this.#filled);
      if (read === 0) break;
      this.#filled += read;
    }
    return this.#filled - this.compared;
  }

  /** How many of the next `count` bytes are those of the other side. */
  sameBytes(other: Blocks, count: number): number {
    let [low, high] = [0, count];
    // most blocks are equal: the first look is at all of it
    for (let middle = count; low < high; middle = low + Math.ceil((high - low) / 2)) {
      if (this.#isSame(other, low, middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #isSame(other: Blocks, from: number, to: number): boolean {
    const [here, there] = [this.compared, other.compared];
    const target = other.#room.bytes;
    const { bytes } = this.#room;
    return bytes.compare(target, there + from, there + to, here + from, here + to) === 0;
  }

  /** Hands over the lines that are compared to their end; false where one of them is unusual. */
  eachLine(lines: EqualLines): boolean {
    const { bytes } = this.#room;
    lines.look(this.#room, this.compared);
    let end = bytes.indexOf(LINE_FEED, this.lineStart);
    while (end >= 0 && end < this.compared) {
      if (!lines.take(this.#room, this.lineStart, end, this.offset)) return false;
      this.lineStart = end + 1;
      end = bytes.indexOf(LINE_FEED, this.lineStart);
    }
    // no room for more of this line
    return this.lineStart > 0 || this.compared < bytes.length;
  }

  async close(): Promise<void> {
    await this.#source.close();
  }
}
