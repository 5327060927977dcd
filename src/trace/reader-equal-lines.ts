// Counts the lines of a trace that are known to be the same on two sides, by their frames.
import { areHexDigits } from "./hex-word.js";
import { RunDigests } from "./digest-rules.js";
import type { EndLine, RunLine, TraceLine } from "./lines.js";
import { findOperation } from "./operation-table.js";
import { LineParser } from "./parse-line.js";
import { runWords } from "./run-words.js";
import type { RunWords } from "./run-words.js";
import { latin1, lineText, LineScan } from "./scan.js";
import type { LineBytes } from "./scan.js";

/** A run that is the same on both sides from its first line to its last. @internal */
export interface EqualRun {
  readonly line: RunLine;
  readonly operations: number;
  readonly refusals: number;
}

const FRAME = Buffer.from('{"kind":"op","n":');
const NAME = Buffer.from(',"op":"');
const ARGS = Buffer.from('","args":{');
const OK = Buffer.from('"ok":');
const EFFECTS_END = Buffer.from('x":['); // of `"fx":[`: a search for it is not held up at every quote
const LETTER_F = 0x66;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BRACE = 0x7d;
const COLON = 0x3a;
const ZERO = 0x30;
const HEX_DIGITS = 16; // of a digest
const NAME_MAX = 64; // bytes of an operation's name
const MARGIN = 128; // bytes behind a line that looking at its frame may touch
const OPENED_MAX = 65_536; // requests of a run that are remembered
const OPERATIONS_MAX = 4096; // heads that are remembered
const HEAD_BYTES = 16;
const [FRAME_0, FRAME_4, FRAME_8, FRAME_12] = [0, 4, 8, 12].map((at) => FRAME.readInt32LE(at));
const [ARGS_0, ARGS_4, ARGS_6] = [0, 4, 6].map((at) => ARGS.readInt32LE(at));

interface KnownOperation {
  readonly name: string;
  readonly domain: string;
  readonly head: readonly [number, number, number, number]; // the 16 bytes that begin with the name
  run: OpenRun | null; // in which it was met last
}

/** The run at hand. */
interface OpenRun {
  readonly digests: RunDigests;
  readonly line: RunLine;
  readonly words: RunWords | null;
  operations: number;
  refusals: number;
  readonly kinds: Set<string>;
  readonly opened: Set<string>; // requests
  hasEffects: boolean;
  hasDigests: boolean;
}

/** Takes lines one after another; false ends it. @internal */
export class EqualLines {
  readonly runs: EqualRun[] = [];
  readonly kinds = new Set<string>();
  hasEffects = false;
  hasDigests = false;
  /** Where the run at hand begins, or the next line where none is open. */
  place: { readonly offset: number; readonly line: number };
  readonly #parser: LineParser;
  readonly #scan = new LineScan();
  readonly #operations = new Map<number, KnownOperation>(); // by a hash of their heads
  readonly #ids = new Set<string>();
  #run: OpenRun | null = null;
  #number = 2; // of the line to come
  #counted = 0;
  readonly #digits = new Uint8Array(16); // of the operation's number that must come, from `#firstDigit` on
  #firstDigit = 15;
  #window: Buffer = Buffer.alloc(0); // the room up to the last of the lines at hand
  #view: DataView = new DataView(new ArrayBuffer(0)); // of the room
  #effectsAt = -1; // where effects begin next in the window, Infinity: nowhere any more

  constructor(file: string, offset: number) {
    this.place = { offset, line: 2 };
    this.#parser = new LineParser({ file, maxDepth: 64, lenient: false, validate: true });
  }

  get isBetweenRuns(): boolean {
    return this.#run === null;
  }
  /** The run at hand, or null. */
  get run(): string | null {
    return this.#run?.line.run ?? null;
  }

  /** Operations since the call before. */
  takeCount(): number {
    const count = this.#counted;
    this.#counted = 0;
    return count;
  }

  /** The lines to come lie in the first `end` bytes of the room. */
  look({ bytes }: LineBytes, end: number): void {
    this.#window = bytes.subarray(0, end);
    if (this.#view.buffer !== bytes.buffer)
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#effectsAt = -1;
  }

  /** The line `bytes[start, end)`, `offset` bytes being before the room; false: it is unusual, and the search ends. */
  take(room: LineBytes, start: number, end: number, offset: number): boolean {
    const isGood = this.#isOperation(room, start, end)
      ? this.#operation(room, start, end)
      : this.#other(room, start, end, offset);
    if (isGood) this.#number += 1;
    if (isGood && this.#run === null) {
      this.place = { offset: offset + end + 1, line: this.#number };
    }
    return isGood;
  }

  // Four bytes at a time; near the end of the room, where that reads too far, one at a time.
  #isOperation({ bytes }: LineBytes, start: number, end: number): boolean {
    if (end + MARGIN > bytes.length) return hasAt(bytes, FRAME, start);
    const view = this.#view;
    return (
      view.getInt32(start, true) === FRAME_0 &&
      view.getInt32(start + 4, true) === FRAME_4 &&
      view.getInt32(start + 8, true) === FRAME_8 &&
      view.getInt32(start + 12, true) === FRAME_12 &&
      bytes[start + 16] === COLON
    );
  }

  #operation(room: LineBytes, start: number, end: number): boolean {
    const run = this.#run;
    const { bytes } = room;
    if (run === null || bytes[end - 1] !== BRACE) return false;
    let at = this.#afterNumber(bytes, start + FRAME.length);
    if (at < 0 || !hasAt(bytes, NAME, at)) return false;
    at += NAME.length;
    const isRoomy = end + MARGIN <= bytes.length;
    const known = (isRoomy ? this.#metAt(at) : null) ?? this.#nameAt(bytes, at, isRoomy);
    if (known === null || known.domain !== run.line.domain) return false;
    if (known.run !== run) {
      known.run = run;
      run.kinds.add(known.name);
    }
    // a line that ends in a digest is no refusal: a refusal changes nothing
    if (this.#endsInDigest(bytes, end)) run.hasDigests = true;
    else if (!this.#withoutDigest(room, run, start, at, end)) return false;
    run.hasEffects ||= this.#hasEffects(start, end);
    if (known.name === "row.alloc" && !this.#noteOpened(room, run, start, end)) return false;
    const isBoot = known.name === "boot";
    if (run.line.domain === "kv" && isBoot !== this.#isZero()) return false;
    if (isBoot && !this.#boot(room, run, start, end)) return false;
    run.operations += 1;
    this.#counted += 1;
    this.#countUp();
    return true;
  }

  // Its digest lists every component or none: what the digests behind it are judged by.
  #boot(room: LineBytes, run: OpenRun, start: number, end: number): boolean {
    const line = this.#parsed(room, start, end);
    return line?.kind === "op" && run.digests.acceptOperation(line) === null;
  }

  #withoutDigest(room: LineBytes, run: OpenRun, start: number, from: number, end: number): boolean {
    if (isGranted(room.bytes, from, end)) return true;
    const line = this.#parsed(room, start, end);
    if (line?.kind !== "op" || line.err === undefined) return false;
    const { rule, req } = line.err;
    // such a run means nothing, which the ordinary way says
    if (line.op === "boot") return false;
    if (rule === "unknown_request" && req !== undefined && !run.opened.has(req)) return false;
    run.refusals += 1;
    return true;
  }

  #hasEffects(start: number, end: number): boolean {
    if (this.#effectsAt < start) this.#effectsAt = nextEffects(this.#window, start);
    return this.#effectsAt < end;
  }

  // `…"full":"0123456789abcdef"}}`
  #endsInDigest(bytes: Buffer, end: number): boolean {
    const quote = end - 3;
    if (bytes[end - 2] !== BRACE || bytes[quote] !== QUOTE) return false;
    const first = quote - HEX_DIGITS;
    if (bytes[first - 1] !== QUOTE || bytes[first - 2] !== COLON) return false;
    const view = this.#view;
    return (
      areHexDigits(view.getInt32(first, true)) &&
      areHexDigits(view.getInt32(first + 4, true)) &&
      areHexDigits(view.getInt32(first + 8, true)) &&
      areHexDigits(view.getInt32(first + 12, true))
    );
  }

  #noteOpened(room: LineBytes, run: OpenRun, start: number, end: number): boolean {
    const line = this.#parsed(room, start, end);
    if (line?.kind !== "op" || line.op !== "row.alloc" || run.opened.size > OPENED_MAX)
      return false;
    for (const req of line.args.reqs) run.opened.add(req);
    return true;
  }

  #other(room: LineBytes, start: number, end: number, offset: number): boolean {
    const line = this.#parsed(room, start, end);
    if (line === null) return false;
    if (line.kind === "run") return this.#open(line, offset + start);
    const run = this.#run;
    if (run === null) return false;
    const next = (run.line.starts_at ?? 0) + run.operations;
    switch (line.kind) {
      case "mark":
        return line.n === next || line.n === next - 1;
      case "state":
        return line.n === next - 1;
      case "end":
        if (line.run !== run.line.run || line.ops !== run.operations || line.ops === 0)
          return false;
        if (!hasRightDigests(run, line)) return false;
        this.#close(run);
        this.runs.push({ line: run.line, operations: run.operations, refusals: run.refusals });
        this.#run = null;
        return true;
      default:
        return false;
    }
  }

  #open(line: RunLine, offset: number): boolean {
    if (this.#run !== null || this.#ids.has(line.run)) return false;
    this.#ids.add(line.run);
    this.place = { offset, line: this.#number };
    const words = runWords(line.domain, line.config, line.derived);
    this.#run = {
      ...{ line, words, operations: 0, refusals: 0, digests: new RunDigests(line, words) },
      ...{ kinds: new Set(), opened: new Set(), hasEffects: this.hasEffects, hasDigests: false },
    };
    this.#startAt(line.starts_at ?? 0);
    return true;
  }

  #close(run: OpenRun): void {
    for (const kind of run.kinds) this.kinds.add(kind);
    this.hasEffects ||= run.hasEffects;
    this.hasDigests ||= run.hasDigests;
  }

  #parsed(room: LineBytes, start: number, end: number): TraceLine | null {
    this.#scan.look(room, start, end);
    const text = lineText(room, start, end, this.#scan.isAscii);
    if (text === null) return null;
    try {
      return this.#parser.parse(text, this.#scan, this.#number, this.#run?.words ?? null);
    } catch {
      return null; // the ordinary way says what is wrong
    }
  }

  // Behind the number that must come; -1 where another one stands.
  #afterNumber(bytes: Buffer, from: number): number {
    let at = from;
    for (let digit = this.#firstDigit; digit < this.#digits.length; digit++) {
      if (bytes[at] !== this.#digits[digit]) return -1;
      at += 1;
    }
    return at;
  }

  /** The operation that was met before under the name at `from`, by its first 16 bytes. */
  #metAt(from: number): KnownOperation | null {
    const view = this.#view;
    const first = view.getInt32(from, true);
    const second = view.getInt32(from + 4, true);
    const third = view.getInt32(from + 8, true);
    const fourth = view.getInt32(from + 12, true);
    const known = this.#operations.get(hashOf(first, second, third, fourth));
    if (known === undefined) return null;
    const { head, name } = known;
    const isSame =
      head[0] === first && head[1] === second && head[2] === third && head[3] === fourth;
    const args = from + name.length;
    return isSame &&
      view.getInt32(args, true) === ARGS_0 &&
      view.getInt32(args + 4, true) === ARGS_4 &&
      view.getInt32(args + 6, true) === ARGS_6
      ? known
      : null;
  }

  /** The operation whose name and `args` stand at `from`, found by its name. */
  #nameAt(bytes: Buffer, from: number, isRoomy: boolean): KnownOperation | null {
    let at = from;
    while (bytes[at] !== QUOTE && at < from + NAME_MAX) at += 1; // a known name always fits
    const name = latin1(bytes, from, at);
    const spec = findOperation(name);
    if (spec === undefined || !hasAt(bytes, ARGS, at)) return null;
    const view = this.#view;
    const word = (index: number): number =>
      isRoomy ? view.getInt32(from + 4 * index, true) : index;
    const head = [word(0), word(1), word(2), word(3)] as const;
    const known = { name, domain: spec.domain, head, run: null };
    // a longer name could begin like another one
    const isKeepable = isRoomy && name.length <= HEAD_BYTES;
    if (isKeepable && this.#operations.size < OPERATIONS_MAX)
      this.#operations.set(hashOf(...head), known);
    return known;
  }

  #startAt(n: number): void {
    const text = String(n);
    this.#firstDigit = this.#digits.length - text.length;
    for (let i = 0; i < text.length; i++) {
      this.#digits[this.#firstDigit + i] = text.charCodeAt(i);
    }
  }

  #isZero(): boolean {
    return this.#firstDigit === this.#digits.length - 1 && this.#digits[this.#firstDigit] === ZERO;
  }

  #countUp(): void {
    const digits = this.#digits;
    for (let at = digits.length - 1; at >= this.#firstDigit; at--) {
      const digit = digits[at] ?? ZERO;
      if (digit < ZERO + 9) {
        digits[at] = digit + 1;
        return;
      }
      digits[at] = ZERO;
    }
    this.#firstDigit -= 1;
    digits[this.#firstDigit] = ZERO + 1;
  }
}

// Of the operations it is only known whether any has one.
function hasRightDigests({ digests, hasDigests }: OpenRun, end: EndLine): boolean {
  if (hasDigests && (!digests.mayFollow || (end.digest ?? null) === null)) return false;
  return digests.acceptEnd(end) === null;
}

function hasAt(bytes: Buffer, wanted: Buffer, at: number): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

// Where the next `"fx":[` has its `x`.
function nextEffects(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(EFFECTS_END, from);
  while (at >= 0 && (bytes[at - 1] !== LETTER_F || bytes[at - 2] !== QUOTE))
    at = bytes.indexOf(EFFECTS_END, at + 1);
  return at < 0 ? Infinity : at;
}

// Behind the arguments stands `},"ok":`; inside a string a quote has a backslash before it.
function isGranted(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    if (bytes[at] === BRACE && bytes[at + 1] === COMMA && hasAt(bytes, OK, at + 2)) return true;
  }
  return false;
}

function hashOf(first: number, second: number, third: number, fourth: number): number {
  let hash = Math.imul(first, 31) + second;
  hash = Math.imul(hash, 31) + third;
  return (Math.imul(hash, 31) + fourth) | 0;
}
