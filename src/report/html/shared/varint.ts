// Whole numbers as bytes: seven bits each, low first, the high bit of all but the last set. Negative ones are folded in
// between (0, -1, 1, -2, …). Runs in Node and in the browser.

/** Appends numbers to a buffer that grows. @internal */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** @param value - 0 to 2^53 - 1 */
  unsigned(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#push((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.#push(rest);
  }

  /** @param value - between -2^52 and 2^52 */
  signed(value: number): void {
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }
}

/** Reads what `ByteWriter` wrote. Reading past the end gives zeros. @internal */
export class ByteReader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  unsigned(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#bytes[this.at] ?? 0;
      this.at += 1;
      if (byte < 0x80) return value + byte * scale;
      value += (byte - 0x80) * scale;
      scale *= 0x80;
    }
  }

  signed(): number {
    const folded = this.unsigned();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }
}
