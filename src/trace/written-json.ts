// Whether a text holds a value as JSON.stringify writes it, found by walking both at once: no text is made and none parsed.

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const ZERO = 48;
const COLON = 58;
const BACKSLASH = 92;

/**
 * Where `value` ends when it stands in `text` at `at` as JSON.stringify writes it, else -1. A number has to be a whole one
 * up to 2^53, a string plain ASCII without escapes, an object without undefined members: for others the answer is -1 even
 * where they stand there. Whoever goes on from the end has to find a comma, a bracket or a brace. @internal
 */
export function endOfWritten(text: string, at: number, value: unknown): number {
  switch (typeof value) {
    case "number":
      return endOfNumber(text, at, value);
    case "string":
      return endOfString(text, at, value);
    case "boolean":
      return endOfWord(text, at, value ? "true" : "false");
    case "object":
      if (value === null) return endOfWord(text, at, "null");
      return Array.isArray(value)
        ? endOfList(text, at, value)
        : endOfObject(text, at, value as Readonly<Record<string, unknown>>);
    default:
      return -1;
  }
}

function endOfObject(text: string, at: number, bag: Readonly<Record<string, unknown>>): number {
  if (text.charCodeAt(at) !== 123) return -1;
  let next = at + 1;
  let isFirst = true;
  for (const key in bag) {
    if (isFirst) isFirst = false;
    else if (text.charCodeAt(next++) !== COMMA) return -1;
    next = endOfString(text, next, key);
    if (next < 0 || text.charCodeAt(next) !== COLON) return -1;
    next = endOfWritten(text, next + 1, bag[key]);
    if (next < 0) return -1;
  }
  return text.charCodeAt(next) === 125 ? next + 1 : -1;
}

function endOfList(text: string, at: number, list: readonly unknown[]): number {
  if (text.charCodeAt(at) !== 91) return -1;
  let next = at + 1;
  for (let i = 0; i < list.length; i++) {
    if (i > 0 && text.charCodeAt(next++) !== COMMA) return -1;
    const item = list[i];
    // most items are numbers
    next =
      typeof item === "number" ? endOfNumber(text, next, item) : endOfWritten(text, next, item);
    if (next < 0) return -1;
  }
  return text.charCodeAt(next) === 93 ? next + 1 : -1;
}

function endOfString(text: string, at: number, value: string): number {
  if (text.charCodeAt(at) !== QUOTE) return -1;
  const first = at + 1;
  const { length } = value;
  for (let i = 0; i < length; i++) {
    const code = value.charCodeAt(i);
    if (code !== text.charCodeAt(first + i)) return -1;
    if (code < 32 || code > 126 || code === QUOTE || code === BACKSLASH) return -1;
  }
  return text.charCodeAt(first + length) === QUOTE ? first + length + 1 : -1;
}

function endOfWord(text: string, at: number, word: string): number {
  return text.startsWith(word, at) ? at + word.length : -1;
}

function endOfNumber(text: string, at: number, value: number): number {
  if (value >= 0 && value < 10 && Number.isInteger(value))
    return text.charCodeAt(at) === ZERO + value ? at + 1 : -1;
  if (!Number.isSafeInteger(value)) return -1;
  if (value < -0x7fffffff || value > 0x7fffffff) return endOfWord(text, at, String(value));
  let first = at;
  let rest = value | 0;
  if (rest < 0) {
    if (text.charCodeAt(first) !== MINUS) return -1;
    first += 1;
    rest = -rest;
  }
  const end = first + digitsOf(rest);
  for (let i = end - 1; i >= first; i--) {
    const tenth = (rest / 10) | 0;
    if (text.charCodeAt(i) !== ZERO + (rest - tenth * 10)) return -1;
    rest = tenth;
  }
  return end;
}

function digitsOf(value: number): number {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1000) return 3;
  if (value < 10_000) return 4;
  if (value < 100_000) return 5;
  if (value < 1_000_000) return 6;
  if (value < 10_000_000) return 7;
  if (value < 100_000_000) return 8;
  return value < 1_000_000_000 ? 9 : 10;
}
