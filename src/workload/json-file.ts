// Small JSON files (scenarios, configurations) read strictly: no duplicate keys, no whole numbers that lose digits, bounded
// size and nesting; every value keeps its place, so that a later complaint can name the line.
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { InputError } from "../base/errors.js";
import { openInput, unreadable } from "../trace/reader-input.js";

/** @internal */
export interface JsonFile {
  readonly file: string;
  readonly value: unknown;
  /** 1-based line and column of a JSON pointer's value; of its nearest parent where there is none. */
  placeOf(pointer: string): { readonly line: number; readonly column: number };
}

/** What was read ahead of pipes and devices, by path. @internal */
export type ReadInputs = ReadonlyMap<string, Buffer>;

/** Longest file that is read. @internal */
export const BYTES_MAX: number = 64 * 1024 * 1024;
const DEPTH_MAX = 64;

/**
 * Reads and parses a file, or what was read of it before. Throws `InputError` with file, line and column. @internal
 */
export function readJsonFile(file: string, inputs?: ReadInputs): JsonFile {
  const text = textOf(file, inputs?.get(file) ?? readBytes(file, BYTES_MAX));
  const parser = new StrictParser(file, text);
  const value = parser.document();
  return {
    file,
    value,
    placeOf: (pointer) => {
      for (let at = pointer; ; at = at.slice(0, at.lastIndexOf("/"))) {
        const offset = parser.offsets.get(at);
        if (offset !== undefined) return lineAndColumn(text, offset);
        if (at === "") return { line: 1, column: 1 };
      }
    },
  };
}

/** The text of a plain file of at most so many bytes. Throws `InputError`. @internal */
export function readText(file: string, bytesMax: number): string {
  return textOf(file, readBytes(file, bytesMax));
}

function readBytes(file: string, bytesMax: number): Buffer {
  const { fd, kind } = openInput(file);
  try {
    // waiting for a pipe here would keep signals from being handled
    if (kind !== "file") {
      const message = "is no plain file: a pipe or a device is read only where it is named itself";
      throw new InputError("input_unreadable", message, { file });
    }
    const { size } = fstatSync(fd);
    if (size > bytesMax) {
      const message = `is ${String(size)} bytes long; the limit is ${String(bytesMax)}`;
      throw new InputError("input_format", message, { file });
    }
    return readFileSync(fd);
  } catch (error) {
    throw error instanceof InputError ? error : unreadable(file, error);
  } finally {
    closeSync(fd);
  }
}

function textOf(file: string, bytes: Buffer): string {
  if (bytes.length === 0)
    throw new InputError("input_format", "the file is empty", { file, line: 1 });
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    const message = "begins with a byte order mark; save it as UTF-8 without one";
    throw new InputError("input_format", message, { file, line: 1 });
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0) {
    const line = bytes.subarray(0, nul).reduce((count, byte) => count + Number(byte === 0x0a), 1);
    const column = nul - bytes.subarray(0, nul).lastIndexOf(0x0a);
    const isAll = nul === 0 && bytes.every((byte) => byte === 0);
    const message = isAll ? "holds nothing but NUL bytes" : "holds a NUL byte";
    throw new InputError("input_format", message, { file, line, column });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new InputError("input_format", "is not UTF-8 text", { file }, error);
  }
  if (!/[^ \t\r\n]/.test(text)) {
    throw new InputError("input_format", "holds nothing but white space", { file, line: 1 });
  }
  return text;
}

function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}

class StrictParser {
  readonly offsets = new Map<string, number>(); // JSON pointer → offset of the value
  readonly #file: string;
  readonly #text: string;
  #at = 0;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
  }

  document(): unknown {
    const value = this.#value("", 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) this.#fail("something stands after the end of the document");
    return value;
  }

  #value(pointer: string, depth: number): unknown {
    this.#skipSpace();
    this.offsets.set(pointer, this.#at);
    if (depth > DEPTH_MAX) this.#fail(`nested deeper than ${String(DEPTH_MAX)} levels`);
    const next = this.#text[this.#at];
    if (next === "{") return this.#object(pointer, depth);
    if (next === "[") return this.#array(pointer, depth);
    if (next === '"') return this.#string();
    return this.#literal();
  }

  #object(pointer: string, depth: number): unknown {
    // without a prototype no key has a meaning of its own
    const object = Object.create(null) as Record<string, unknown>;
    this.#at += 1;
    this.#skipSpace();
    if (this.#take("}")) return object;
    do {
      this.#skipSpace();
      const at = this.#at;
      if (this.#text[at] !== '"') this.#fail("expected a key in double quotes");
      const key = this.#string();
      if (Object.hasOwn(object, key)) this.#fail(`duplicate key "${key}"`, at);
      this.#skipSpace();
      if (!this.#take(":")) this.#fail('expected ":"');
      object[key] = this.#value(
        `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`,
        depth + 1,
      );
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("}")) this.#fail('expected "," or "}"');
    return object;
  }

  #array(pointer: string, depth: number): unknown {
    const list: unknown[] = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#take("]")) return list;
    do {
      list.push(this.#value(`${pointer}/${String(list.length)}`, depth + 1));
      this.#skipSpace();
    } while (this.#take(","));
    if (!this.#take("]")) this.#fail('expected "," or "]"');
    return list;
  }

  #string(): string {
    const start = this.#at;
    for (this.#at += 1; this.#text[this.#at] !== '"'; this.#at += 1) {
      if (this.#at >= this.#text.length) this.#fail("a text without its closing quote", start);
      if (this.#text[this.#at] === "\\") this.#at += 1;
    }
    this.#at += 1;
    return this.#parse(start) as string; // begins with a quote
  }

  #literal(): unknown {
    const start = this.#at;
    while (/[-+.0-9A-Za-z]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
    if (this.#at === start) {
      if (start >= this.#text.length) this.#fail("the file stops inside the document");
      this.#fail(`unexpected character ${JSON.stringify(this.#text[start])}`);
    }
    const value = this.#parse(start);
    // ratios are fractions; where a whole number is wanted the schema says so
    const isFraction = typeof value === "number" && Number.isFinite(value) && value % 1 !== 0;
    if (typeof value === "number" && !isFraction && !Number.isSafeInteger(value)) {
      this.#fail(`${this.#text.slice(start, this.#at)} is no integer below 2^53`, start);
    }
    return value;
  }

  #parse(start: number): unknown {
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as unknown;
    } catch {
      return this.#fail(
        `not JSON: ${this.#text.slice(start, Math.min(this.#at, start + 40))}`,
        start,
      );
    }
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
  }
  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }
  #fail(message: string, offset: number = this.#at): never {
    const place = { file: this.#file, ...lineAndColumn(this.#text, offset) };
    throw new InputError("input_format", message, place);
  }
}
