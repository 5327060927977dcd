// The front of an `op` line as the writer puts it: number, operation and arguments, up to where the answer begins.
import { latin1 } from "./scan.js";
import { operationNames } from "./operation-table.js";

const FRONT = Buffer.from('{"kind":"op","n":');
const BEFORE_NAME = Buffer.from(',"op":"');
const BEFORE_ARGS = Buffer.from('","args":');
const DIGITS_MAX = 15; // below 2^53
const DEPTH_MAX = 32; // of brackets in arguments; deeper ones are read in the ordinary way

/** What stands in front of the answer. @internal */
export interface LineHead {
  readonly n: number;
  readonly op: string; // a name of the operation table
  readonly args: unknown; // an object, not checked
  readonly keys: number; // of all objects in the arguments' text
  readonly end: number; // where the answer begins, counted from the begin of the line
}

// Names by the sum of their bytes: an operation's name is found without making a string of it.
const NAMES = new Map<number, string[]>();
for (const name of [...operationNames("kv"), ...operationNames("heap")]) {
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum = nextSum(sum, name.charCodeAt(i));
  NAMES.set(sum, [...(NAMES.get(sum) ?? []), name]);
}

function nextSum(sum: number, byte: number): number {
  return (Math.imul(sum, 31) + byte) | 0;
}

/** The head of the line `bytes[start, end)`; null where the writer would have put it otherwise. @internal */
export function headOf(bytes: Buffer, start: number, end: number): LineHead | null {
  if (end - start < 48 || !standsAt(bytes, start, FRONT)) return null;
  let at = start + FRONT.length;
  const firstDigit = at;
  let n = 0;
  for (let byte = bytes[at]!; byte >= 48 && byte <= 57; byte = bytes[at]!) {
    n = n * 10 + (byte - 48);
    at += 1;
  }
  const digits = at - firstDigit;
  if (digits === 0 || digits > DIGITS_MAX || (digits > 1 && bytes[firstDigit] === 48)) return null;
  if (!standsAt(bytes, at, BEFORE_NAME)) return null;
  at += BEFORE_NAME.length;
  const name = nameAt(bytes, at, end);
  if (name === null) return null;
  at += name.length;
  if (!standsAt(bytes, at, BEFORE_ARGS)) return null;
  at += BEFORE_ARGS.length;
  return withArgs(bytes, start, at, end, n, name);
}

function standsAt(bytes: Buffer, at: number, expected: Buffer): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

function nameAt(bytes: Buffer, at: number, end: number): string | null {
  let sum = 0;
  let stop = at;
  for (let byte = bytes[stop]!; byte !== 34; byte = bytes[stop]!) {
    if (stop >= end) return null;
    sum = nextSum(sum, byte);
    stop += 1;
  }
  for (const name of NAMES.get(sum) ?? []) {
    if (name.length !== stop - at) continue;
    let i = 0;
    while (i < name.length && bytes[at + i] === name.charCodeAt(i)) i += 1;
    if (i === name.length) return name;
  }
  return null;
}

function withArgs(
  bytes: Buffer,
  start: number,
  first: number,
  end: number,
  n: number,
  op: string,
): LineHead | null {
  if (bytes[first] !== 123) return null;
  let keys = 0;
  let depth = 0;
  let at = first;
  do {
    if (at >= end) return null;
    const byte = bytes[at]!;
    at += 1;
    if (byte === 34) {
      at = pastString(bytes, at, end);
      if (at < 0) return null;
    } else if (byte === 58) keys += 1;
    else if (byte === 91 || byte === 123) depth += 1;
    else if (byte === 93 || byte === 125) depth -= 1;
    else if (byte > 126) return null;
    if (depth > DEPTH_MAX) return null;
  } while (depth > 0);
  try {
    const args = JSON.parse(latin1(bytes, first, at)) as unknown;
    return { n, op, args, keys, end: at - start };
  } catch {
    return null; // the ordinary way says what is wrong
  }
}

/** Behind the closing quote of a string of plain ASCII; -1: it is none. */
function pastString(bytes: Buffer, first: number, end: number): number {
  for (let at = first; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === 34) return at + 1;
    if (byte > 126 || byte === 92) return -1;
  }
  return -1;
}
