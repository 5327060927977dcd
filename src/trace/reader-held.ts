// The `op` lines of a reader whose answers are not parsed yet, and what happens to those that nobody confirms.
import { arePlainArgs } from "./check.js";
import { HeldLine } from "./held-line.js";
import type { HeldLineReader } from "./held-line.js";
import { headOf } from "./line-head.js";
import type { OpLine } from "./lines.js";
import type { LineParser } from "./parse-line.js";
import type { LineFeed } from "./reader-lines.js";
import { latin1, lineBytes, LineScan, lineText } from "./scan.js";
import type { StructureProblem, TraceStructure } from "./structure.js";

const LONGEST = 1 << 16; // bytes of a line; longer ones are read at once
const TRIED = 512; // lines after which it is known whether holding them pays

/** Every line taken is confirmed by its comparer, or parsed and checked before anything behind its batch is read. @internal */
export class HeldLines implements HeldLineReader {
  readonly #parser: LineParser;
  readonly #structure: TraceStructure;
  readonly #scan = new LineScan();
  readonly #room = lineBytes(LONGEST);
  #lines: HeldLine[] = [];
  #settled = 0; // of them, from the first on
  #taken = 0;
  #parsed = 0;
  #isOff = false;

  constructor(parser: LineParser, structure: TraceStructure) {
    this.#parser = parser;
    this.#structure = structure;
  }

  /** Whether lines wait to be confirmed or read. */
  get isPending(): boolean {
    return this.#lines.length > 0;
  }

  /** From now on lines are read at once. */
  stop(): void {
    this.#isOff = true;
  }

  /** The feed's line with its answer held back; null where it has to be read at once. Throws `InputError`. */
  take(feed: LineFeed): HeldLine | null {
    const { room, start, end, number } = feed;
    const structure = this.#structure;
    if (this.#isOff || !feed.isWhole || end - start > LONGEST || structure.run === null)
      return null;
    const head = headOf(room.bytes, start, end);
    if (head === null || head.op === "boot") return null;
    if (!arePlainArgs(head.op, head.args, head.keys, structure.words)) return null;
    const place = { index: this.#lines.length, number, mayHaveDigest: structure.mayHaveDigests };
    const line = new HeldLine(this, place, head, latin1(room.bytes, start, end));
    const wrong = structure.acceptPlace(head.n, head.op);
    if (wrong !== null) {
      this.#parse(line); // what is wrong with the line itself comes first
      throw this.#error(wrong, line);
    }
    this.#lines.push(line);
    this.#taken += 1;
    // where most lines are parsed after all, holding them costs more than it saves
    if (this.#taken === TRIED && this.#parsed * 2 > TRIED) this.#isOff = true;
    return line;
  }

  readThrough(line: HeldLine): void {
    for (; this.#settled <= line.index; this.#settled += 1)
      this.#settle(this.#lines[this.#settled]!);
  }

  /** Parses and checks what nobody confirmed. Throws `InputError` for the first bad line, and again when called again. */
  settle(): void {
    const last = this.#lines.at(-1);
    if (last === undefined) return;
    this.readThrough(last);
    this.forget();
  }

  /** Gives up the lines that wait. */
  forget(): void {
    this.#lines = [];
    this.#settled = 0;
  }

  #settle(line: HeldLine): void {
    if (!line.isKnown) line.learn(this.#parse(line));
    const wrong = this.#structure.acceptDigest(line.asLine());
    if (wrong !== null) throw this.#error(wrong, line);
  }

  #error({ code, message, problem }: StructureProblem, { number, text }: HeldLine): Error {
    return this.#parser.error(code, message, number, problem, text);
  }

  #parse({ text, number }: HeldLine): OpLine {
    this.#parsed += 1;
    const room = this.#room;
    room.bytes.write(text, 0, "latin1"); // a character of the text is a byte of the line
    this.#scan.look(room, 0, text.length);
    const whole = lineText(room, 0, text.length, this.#scan.isAscii);
    if (whole === null) throw this.#parser.error("trace_not_json", "not UTF-8", number);
    // a line of another kind has that key twice, which is refused
    return this.#parser.parse(whole, this.#scan, number, this.#structure.words) as OpLine;
  }
}
