// Cuts a byte stream into lines, many at a time: one search for the last line feed and one decode a chunk.
// Memory is bounded by the longest line allowed.
const LINE_FEED = 10;

/** Chunks in, whole lines out. @internal */
export class LineSplitter {
  readonly #lineBytesMax: number;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #isOverlong = false;

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax;
  }

  /** True once a line grew past the limit; no line comes out any more. */
  get isOverlong(): boolean {
    return this.#isOverlong;
  }

  /** The lines that `chunk` completes, without line feeds and without a carriage return before one. */
  push(chunk: Buffer): string[] {
    if (this.#isOverlong) return [];
    const first = chunk.indexOf(LINE_FEED);
    if (first < 0) {
      this.#keep(chunk);
      return [];
    }
    if (this.#restBytes + first > this.#lineBytesMax) return this.#overflow();
    const last = chunk.lastIndexOf(LINE_FEED);
    const whole = chunk.subarray(0, last);
    const text =
      this.#restBytes === 0
        ? whole.toString("utf8")
        : Buffer.concat([...this.#rest, whole]).toString("utf8");
    this.#rest = [];
    this.#restBytes = 0;
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1));
    const lines = text.split("\n");
    if (
      chunk.length > this.#lineBytesMax &&
      lines.some((line) => line.length > this.#lineBytesMax)
    ) {
      return this.#overflow();
    }
    return text.includes("\r") ? lines.map(withoutReturn) : lines;
  }

  /** What stands after the last line feed: empty for a stream that ended as it should. */
  rest(): string {
    return Buffer.concat(this.#rest).toString("utf8");
  }

  #keep(bytes: Buffer): void {
    if (this.#restBytes + bytes.length > this.#lineBytesMax) this.#overflow();
    else {
      this.#rest.push(bytes);
      this.#restBytes += bytes.length;
    }
  }

  #overflow(): string[] {
    this.#isOverlong = true;
    this.#rest = [];
    this.#restBytes = 0;
    return [];
  }
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
