// One pass over the bytes of a line, before it is parsed: how many keys, how deep, whether plain ASCII.
import { endOfString, pastSpace } from "./json-place.js";

const IS_LITTLE_ENDIAN = new Uint8Array(Int32Array.of(1).buffer)[0] === 1;
const HIGH_BITS = 0x80808080;
const LOW_BITS = 0x7f7f7f7f;
const WORDS_A_ROUND = 200; // byte lanes of a sum hold at most 255

/** Bytes of lines, also seen as 32-bit words; the byte length is a multiple of 4. @internal */
export interface LineBytes {
  readonly bytes: Buffer;
  readonly words: Int32Array;
}

/** Room for lines. @internal */
export function lineBytes(size: number): LineBytes {
  const memory = new ArrayBuffer(Math.ceil(size / 4) * 4);
  return { bytes: Buffer.from(memory), words: new Int32Array(memory) };
}

/** The text of `bytes[start, end)`; null where that is not UTF-8. @internal */
export function lineText(
  { bytes }: LineBytes,
  start: number,
  end: number,
  isAscii: boolean,
): string | null {
  if (isAscii) return latin1(bytes, start, end);
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(bytes.subarray(start, end));
  } catch {
    return null;
  }
}

/** The method behind `toString("latin1")`, without its checks; the types of Node do not list it. @internal */
export function latin1(bytes: Buffer, start: number, end: number): string {
  return (bytes as unknown as { latin1Slice(from: number, to: number): string }).latin1Slice(
    start,
    end,
  );
}

/**
 * What the bytes of a line show. The quick look, four bytes at a time, counts every colon and every opening bracket, in
 * strings too: both are upper bounds. The exact look knows strings. One object serves all lines. @internal
 */
export class LineScan {
  keys = 0; // colons outside strings, or more before the exact look
  depth = 0; // deepest nesting, or more before the exact look
  isAscii = true;
  isExact = false;
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;

  /** A quick look at `bytes[start, end)`; whether it is JSON is the parser's business. */
  look(line: LineBytes, start: number, end: number): void {
    this.#bytes = line.bytes;
    this.#start = start;
    this.#end = end;
    this.isExact = false;
    if (IS_LITTLE_ENDIAN && end > start) this.#countWords(line.words, start, end);
    else this.lookExactly();
  }

  #countWords(words: Int32Array, start: number, end: number): void {
    let index = start >>> 2;
    const last = (end - 1) >>> 2;
    const tail = (end & 3) === 0 ? -1 : (1 << ((end & 3) << 3)) - 1;
    let keys = 0;
    let openers = 0;
    let all = 0;
    // every index is at most `last`, which lies inside the line
    let word = words[index]! & (-1 << ((start & 3) << 3));
    for (;;) {
      const stop = Math.min(last, index + WORDS_A_ROUND);
      let colonLanes = 0;
      let openerLanes = 0;
      for (;;) {
        if (index === last) word &= tail;
        all |= word;
        colonLanes = (colonLanes + zeroLanes(word ^ 0x3a3a3a3a)) | 0;
        openerLanes = (openerLanes + zeroLanes((word & 0xdfdfdfdf) ^ 0x5b5b5b5b)) | 0; // [ and {
        if (index >= stop) break;
        index += 1;
        word = words[index]!;
      }
      keys += sumOfLanes(colonLanes);
      openers += sumOfLanes(openerLanes);
      if (index === last) break;
      index += 1;
      word = words[index]!;
    }
    this.keys = keys;
    this.depth = openers;
    this.isAscii = (all & HIGH_BITS) === 0;
  }

  /** The exact look at the same bytes. */
  lookExactly(): void {
    const bytes = this.#bytes;
    const end = this.#end;
    let keys = 0;
    let depth = 0;
    let deepest = 0;
    let all = 0;
    let i = this.#start;
    while (i < end) {
      // within bounds by the loop's condition
      const byte = bytes[i]!;
      i += 1;
      all |= byte;
      if (byte === 34) {
        // to the end of the string
        while (i < end) {
          const inner = bytes[i]!;
          i += 1;
          all |= inner;
          if (inner === 34) break;
          if (inner === 92) i += 1;
        }
      } else if (byte >= 58) {
        if (byte === 58) keys += 1;
        else if (byte === 91 || byte === 123) {
          depth += 1;
          if (depth > deepest) deepest = depth;
        } else if (byte === 93 || byte === 125) depth -= 1;
      }
    }
    this.keys = keys;
    this.depth = deepest;
    this.isAscii = all < 128;
    this.isExact = true;
  }
}

/** 1 in each byte lane that was zero. */
function zeroLanes(word: number): number {
  return ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS) >>> 7;
}

function sumOfLanes(lanes: number): number {
  return (lanes & 255) + ((lanes >>> 8) & 255) + ((lanes >>> 16) & 255) + (lanes >>> 24);
}

/** A key that its object has already. @internal */
export interface DuplicateKey {
  readonly key: string;
  readonly column: number; // 1-based, in UTF-16 code units
}

/** The first key that an object of this JSON text gives twice, or null. @internal */
export function findDuplicateKey(text: string): DuplicateKey | null {
  const open: (Set<string> | null)[] = []; // null: a list
  let i = 0;
  while (i < text.length) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      const keys = open.at(-1);
      if (keys instanceof Set && text[pastSpace(text, end)] === ":") {
        // a JSON string of a text that has been parsed
        const key = JSON.parse(text.slice(i, end)) as string;
        if (keys.has(key)) return { key, column: i + 1 };
        keys.add(key);
      }
      i = end;
    } else {
      if (char === "{") open.push(new Set());
      else if (char === "[") open.push(null);
      else if (char === "}" || char === "]") open.pop();
      i += 1;
    }
  }
  return null;
}
