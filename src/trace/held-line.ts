// An `op` line whose answer is not parsed yet. Most answers that are compared are what the other side gives, byte for byte:
// such a line is right, and its answer is known, without being parsed.
import { InputError } from "../base/errors.js";
import type { Answer } from "../base/operations.js";
import { hasKeys } from "./has-keys.js";
import type { OpLine, TraceLine } from "./lines.js";
import { endOfWritten } from "./written-json.js";

/** Who parses and checks a held line where that is needed. @internal */
export interface HeldLineReader {
  /** Parses and checks every held line up to this one that is not known yet. Throws `InputError`. */
  readThrough(line: HeldLine): void;
}

/**
 * Stands for an `OpLine`: number, operation and checked arguments are there, the answer is found out when it is asked for.
 * Then `InputError` may be thrown, as when the line is read at once. @internal
 */
export class HeldLine {
  readonly n: number;
  readonly op: string;
  readonly args: unknown;
  readonly index: number;
  readonly number: number;
  readonly text: string; // a character a byte
  readonly #tail: number; // where the answer begins
  readonly #mayHaveDigest: boolean;
  readonly #reader: HeldLineReader;
  #answer: Answer | null = null;
  #line: OpLine | null = null; // as it was parsed

  constructor(
    reader: HeldLineReader,
    place: {
      readonly index: number; // among the lines that the reader holds
      readonly number: number; // of the line in the file, from 1 on
      readonly mayHaveDigest: boolean; // false: one would be an error
    },
    head: { readonly n: number; readonly op: string; readonly args: unknown; readonly end: number },
    text: string,
  ) {
    this.n = head.n;
    this.op = head.op;
    this.args = head.args;
    this.index = place.index;
    this.number = place.number;
    this.text = text;
    this.#mayHaveDigest = place.mayHaveDigest;
    this.#tail = head.end;
    this.#reader = reader;
  }

  get kind(): "op" {
    return "op";
  }
  /** It has the fields of an `op` line; `instanceof` tells it apart. */
  asLine(): OpLine {
    return this as unknown as OpLine;
  }
  get isKnown(): boolean {
    return this.#answer !== null;
  }
  get ok(): Answer["ok"] {
    return this.#known().ok;
  }
  get err(): Answer["err"] {
    return this.#known().err;
  }
  get fx(): Answer["fx"] {
    return this.#known().fx;
  }
  get digest(): Answer["digest"] {
    return this.#known().digest;
  }
  get message(): Answer["message"] {
    return this.#known().message;
  }

  /** Parses and checks the line unless its answer is known. Throws `InputError`. */
  read(): void {
    if (this.#answer === null) this.#reader.readThrough(this);
  }

  /** The line as if it had been parsed at once. Throws `InputError`. */
  asParsed(): OpLine {
    const answer = this.#known();
    const { kind, n, op, args } = this;
    return this.#line ?? ({ kind, n, op, args, ...answer } as OpLine);
  }

  /** What the reader found when it parsed the line. */
  learn(line: OpLine): void {
    this.#answer = line;
    this.#line = line;
  }

  /** Whether the rest of the line is this answer as the writer puts it; then the answer is known. */
  confirm(answer: Answer): boolean {
    const { text } = this;
    const { ok, err, fx, digest } = answer;
    let at = this.#tail;
    if (ok !== undefined) at = endOfMember(text, at, ',"ok":', ok);
    if (err !== undefined) at = endOfMember(text, at, ',"err":', err);
    const hasEffects = fx !== undefined && fx.length > 0;
    if (hasEffects) at = endOfMember(text, at, ',"fx":', fx);
    const hasDigest = digest !== undefined && hasKeys(digest);
    if (hasDigest && !this.#mayHaveDigest) return false;
    if (hasDigest) at = endOfMember(text, at, ',"digest":', digest);
    if (at < 0 || at !== text.length - 1 || text.charCodeAt(at) !== 125) return false;
    const isAsWritten = (fx === undefined || hasEffects) && (digest === undefined || hasDigest);
    this.#answer =
      isAsWritten && answer.message === undefined
        ? answer
        : {
            ...(ok === undefined ? {} : { ok }),
            ...(err === undefined ? {} : { err }),
            ...(hasEffects ? { fx } : {}),
            ...(hasDigest ? { digest } : {}),
          };
    return true;
  }

  #known(): Answer {
    if (this.#answer === null) this.#reader.readThrough(this);
    return this.#answer!; // the reader has told it, or thrown
  }
}

/** Whether a line is held and the rest of it is this answer; if not, the line is read. Throws `InputError`. @internal */
export function isWrittenAs(line: OpLine, answer: Answer | undefined): boolean {
  if (!(line instanceof HeldLine)) return false;
  if (answer !== undefined && line.confirm(answer)) return true;
  line.read();
  return false;
}

/** Whether a line is good; its reader throws what is wrong with it. @internal */
export function isReadable(line: TraceLine): boolean {
  if (!(line instanceof HeldLine)) return true;
  try {
    line.read();
    return true;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

/** The lines before the first bad one. @internal */
export function readableOf<Line extends TraceLine>(lines: readonly Line[]): readonly Line[] {
  const bad = lines.findIndex((line) => !isReadable(line));
  return bad < 0 ? lines : lines.slice(0, bad);
}

function endOfMember(text: string, at: number, front: string, value: unknown): number {
  return at >= 0 && text.startsWith(front, at) ? endOfWritten(text, at + front.length, value) : -1;
}
