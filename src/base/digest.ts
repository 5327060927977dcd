// The incremental digest: a component's hash is the sum, in two 32-bit lanes, of a mix of (field, index, value) over
// its content. One changed cell costs one subtraction and one addition. A list's order enters through the index.
// `docs/trace-format.md` states the definition with test vectors.

/** The two lanes of one mixed cell or of a sum of cells; unsigned meaning, stored as int32. @public */
export interface Lanes {
  a: number;
  b: number;
}

/** First lane of a cell. `index` and `value` are integers in `[0, 2^53)`; `field` is taken modulo 2^32. @public */
export function mixA(field: number, index: number, value: number): number {
  // -1640531527 is 0x9e3779b9 as int32: the sum stays an integer of 32 bits
  let h = Math.imul((field | 0) + -1640531527, 0x85ebca6b) ^ Math.imul(index | 0, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h ^= value | 0;
  if (index > INT32_MAX || value > INT32_MAX)
    h = h + high(index) + Math.imul(high(value), 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/** Second lane of a cell, independent of the first. @public */
export function mixB(field: number, index: number, value: number): number {
  let h = Math.imul((field | 0) + 0x7f4a7c15, 0xcc9e2d51) ^ Math.imul(index | 0, 0x1b873593);
  h = Math.imul(h ^ (h >>> 13), 0x5bd1e995);
  h ^= value | 0;
  if (index > INT32_MAX || value > INT32_MAX)
    h = h + high(index) + Math.imul(high(value), 0x165667b1);
  h = Math.imul(h ^ (h >>> 15), 0xd168aaad);
  h = Math.imul(h ^ (h >>> 15), 0xaf723597);
  return h ^ (h >>> 15);
}

const INT32_MAX = 0x7fffffff;

// Bits 32 to 52, so that sizes in bytes above 4 GiB count.
function high(value: number): number {
  return value >= 4294967296 ? (value / 4294967296) | 0 : 0;
}

/** 32-bit FNV-1a of a string's UTF-16 code units: how names enter a cell. @public */
export function hashName(name: string): number {
  return hashOn(0x811c9dc5, name);
}

/** Goes on with a 32-bit FNV-1a hash: that of one text behind another. @internal */
export function hashOn(before: number, text: string): number {
  let h = before;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** An incremental sum of cells. @internal */
export class LaneSum implements Lanes {
  a = 0;
  b = 0;
  /** Adds a cell. */
  add(field: number, index: number, value: number): void {
    this.a = (this.a + mixA(field, index, value)) | 0;
    this.b = (this.b + mixB(field, index, value)) | 0;
  }
  /** Takes a cell out again. */
  remove(field: number, index: number, value: number): void {
    this.a = (this.a - mixA(field, index, value)) | 0;
    this.b = (this.b - mixB(field, index, value)) | 0;
  }
  /** Adds another sum. */
  join(other: Lanes): void {
    this.a = (this.a + other.a) | 0;
    this.b = (this.b + other.b) | 0;
  }
  copyFrom(other: Lanes): void {
    this.a = other.a;
    this.b = other.b;
  }
}

const HEX16: string[] = new Array<string>(65536); // filled as they are asked for: all of them cost every start

function hex16(value: number): string {
  return (HEX16[value] ??= value.toString(16).padStart(4, "0"));
}

/** Sixteen hex digits, lane a first. @public */
export function hexOf(a: number, b: number): string {
  return hex16(a >>> 16) + hex16(a & 0xffff) + hex16(b >>> 16) + hex16(b & 0xffff);
}

/** Folds component digests in order into the digest of an `end` line. @public */
export function foldDigests(digests: Iterable<string>): string {
  const sum = new LaneSum();
  let index = 0;
  for (const hex of digests) {
    sum.add(1, index, Number.parseInt(hex.slice(0, 8), 16));
    sum.add(2, index, Number.parseInt(hex.slice(8), 16));
    index += 1;
  }
  return hexOf(sum.a, sum.b);
}
