// Cuts bytes into lines, with memory that follows the longest line and not the file.
import { InputError } from "../base/errors.js";
import type { ErrorCode } from "../base/errors.js";
import type { ByteSource } from "./reader-source.js";
import type { LineBytes } from "./scan.js";
import { lineBytes } from "./scan.js";

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The lines of a source, one at a time. @internal */
export class LineFeed {
  readonly #source: ByteSource;
  readonly #file: string;
  readonly #limitCode: ErrorCode;
  readonly #maxLineBytes: number;
  readonly #largestRoom: number; // bytes: the longest line, and space to read into
  #room: LineBytes;
  #filled = 0; // bytes [0, filled) are read
  #next = 0; // where the next line begins
  #searched = 0; // bytes [next, searched) hold no line feed
  #isEnded = false;
  /** The current line is `room.bytes[start, end)`, without its end of line. */
  start = 0;
  end = 0;
  /** 1-based number of the current line. Whoever begins inside a file sets it to that of the line before. */
  number = 0;
  /** False for a last line without a line feed. */
  isWhole = true;

  /** `limitCode`: the code of the error for a line over `maxLineBytes`. */
  constructor(
    source: ByteSource,
    file: string,
    maxLineBytes: number,
    bufferBytes = 1 << 20,
    limitCode: ErrorCode = "trace_limit",
  ) {
    this.#source = source;
    this.#file = file;
    this.#limitCode = limitCode;
    this.#maxLineBytes = maxLineBytes;
    this.#largestRoom = maxLineBytes + 4096;
    this.#room = lineBytes(Math.max(4096, Math.min(bufferBytes, maxLineBytes + 2)));
  }

  /** What `start` and `end` point into; other bytes after the next `fill`. */
  get room(): LineBytes {
    return this.#room;
  }

  /** Goes to the next line that is already in memory; false: `fill` is needed, or the input is over. */
  advance(): boolean {
    // an empty stretch is not searched: before the first read it is all of the memory
    const isEmpty = this.#searched >= this.#filled;
    const found = isEmpty ? -1 : this.#room.bytes.indexOf(LINE_FEED, this.#searched);
    if (found === -1 || found >= this.#filled) {
      this.#searched = this.#filled;
      return this.#isEnded && this.#lastLine();
    }
    this.#take(found, found + 1);
    return true;
  }

  /** Reads on; false at the end of the input. `advance` finds what came. */
  fill(): boolean | Promise<boolean> {
    if (this.#isEnded) return false;
    this.#makeRoom();
    const read = this.#source.fill(this.#room.bytes, this.#filled);
    return typeof read === "number" ? this.#read(read) : read.then((count) => this.#read(count));
  }

  #read(count: number): boolean {
    this.#filled += count;
    if (count === 0) this.#isEnded = true;
    // so that no search goes on into what older lines left behind
    else if (this.#filled < this.#room.bytes.length) this.#room.bytes[this.#filled] = LINE_FEED;
    return count > 0 || this.#next < this.#filled;
  }

  // Room doubles and what is there is moved once a line, so that the work is in proportion to the bytes, however small
  // the pieces in which a long line comes.
  #makeRoom(): void {
    const rest = this.#filled - this.#next;
    if (rest > this.#maxLineBytes) throw this.#tooLong(this.#next);
    const { bytes } = this.#room;
    if (rest * 2 > bytes.length && bytes.length < this.#largestRoom) {
      const larger = lineBytes(Math.min(bytes.length * 2, this.#largestRoom));
      bytes.copy(larger.bytes, 0, this.#next, this.#filled);
      this.#room = larger;
    } else if (this.#next > 0) {
      bytes.copyWithin(0, this.#next, this.#filled);
    }
    this.#searched -= this.#next;
    this.#next = 0;
    this.#filled = rest;
  }

  #lastLine(): boolean {
    if (this.#next >= this.#filled) return false;
    this.#take(this.#filled, this.#filled);
    this.isWhole = false;
    return true;
  }

  #take(end: number, next: number): void {
    this.start = this.#next;
    this.end = end > this.start && this.#room.bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    this.#next = next;
    this.#searched = next;
    this.number += 1;
    if (this.end - this.start > this.#maxLineBytes) throw this.#tooLong(this.start);
  }

  #tooLong(start: number): InputError {
    const nul = this.#room.bytes[start] === 0 ? ", and begins with NUL bytes" : "";
    const message = `the line is longer than ${this.#maxLineBytes} bytes${nul}`;
    // thrown before and after the line is counted
    const line = this.end - this.start > this.#maxLineBytes ? this.number : this.number + 1;
    return new InputError(this.#limitCode, message, { file: this.#file, line });
  }
}
