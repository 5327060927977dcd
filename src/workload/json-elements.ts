// Objects out of one large JSON document, one by one: the lists of `device_traces` are walked, the rest is passed over.
// Memory follows the longest line and the largest element, not the document.
import { InputError } from "../base/errors.js";
import type { LinePlace } from "./csv-line.js";

/** A container that is open. */
interface Frame {
  readonly close: "}" | "]";
  key: string; // of an object: the member under way
  index: number; // of a list: the element under way
  isKeyNext: boolean; // of an object: a string is a key
}

/** One object of `LIST/outer/inner`. @internal */
export interface JsonElement {
  readonly outer: number; // 0-based
  readonly text: string; // JSON
  readonly place: LinePlace & { readonly path: string }; // where it begins
}

/** Walks `{"LIST": [[{…}, …], …], …}`. @internal */
export class JsonElements {
  /** Members of the document's outermost object that were met so far. */
  readonly members: string[] = [];
  readonly #list: string;
  readonly #onElement: (element: JsonElement) => void;
  readonly #stack: Frame[] = [];
  #captured: string[] | null = null; // parts of the element under way
  #start: JsonElement["place"] | null = null;
  #isOver = false; // the document is closed

  constructor(list: string, onElement: (element: JsonElement) => void) {
    this.#list = list;
    this.#onElement = onElement;
  }

  /** Takes the next line. Throws `InputError` where brackets do not match. */
  take(line: string, place: LinePlace): void {
    let from = 0; // of what is captured
    const structural = /["{}[\],:]/g;
    for (;;) {
      const found = structural.exec(line);
      if (found === null) break;
      const at = found.index;
      if (this.#isOver) this.#wrong(`more behind the end of the document`, place);
      switch (found[0]) {
        case '"': {
          const end = stringEnd(line, at);
          if (end < 0) this.#wrong("a text that does not end in its line", place);
          this.#key(line.slice(at, end), place);
          structural.lastIndex = end;
          break;
        }
        case "{":
        case "[":
          if (found[0] === "{" && this.#isWanted) {
            this.#captured = [];
            from = at;
            const [, outer, inner] = this.#stack;
            const path = `/${this.#list}/${outer?.index ?? 0}/${inner?.index ?? 0}`;
            this.#start = { ...place, path };
          }
          this.#open(found[0]);
          break;
        case "}":
        case "]":
          this.#close(found[0], place);
          if (this.#captured !== null && this.#stack.length === WANTED_DEPTH) {
            this.#captured.push(line.slice(from, at + 1));
            this.#emit();
          }
          break;
        case ",":
          this.#next();
          break;
        default:
          break; // the colon behind a key
      }
    }
    this.#captured?.push(`${line.slice(from)}\n`);
  }

  /** Throws `InputError` where the document is not whole. */
  finish(file: string): void {
    if (this.#isOver) return;
    const open = this.#stack.map(({ close }) => (close === "}" ? "{" : "[")).join("");
    const what = open === "" ? "holds no JSON document" : `ends inside ${open}`;
    throw new InputError("input_format", `${what}: it was cut or is not finished`, { file });
  }

  get #isWanted(): boolean {
    return (
      this.#stack.length === WANTED_DEPTH &&
      this.#stack[0]?.key === this.#list &&
      this.#stack[1]?.close === "]" &&
      this.#stack[2]?.close === "]"
    );
  }

  #open(bracket: "{" | "["): void {
    const isObject = bracket === "{";
    const close = isObject ? "}" : "]";
    this.#stack.push({ close, key: "", index: 0, isKeyNext: isObject });
  }

  #close(bracket: string, place: LinePlace): void {
    const frame = this.#stack.pop();
    if (frame?.close !== bracket) this.#wrong(`an unexpected ${bracket}`, place);
    if (this.#stack.length === 0) this.#isOver = true;
  }

  #next(): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return;
    if (frame.close === "]") frame.index += 1;
    else frame.isKeyNext = true;
  }

  #key(text: string, place: LinePlace): void {
    const frame = this.#stack.at(-1);
    if (frame === undefined) this.#wrong("a text outside of the document", place);
    if (!frame.isKeyNext) return;
    frame.isKeyNext = false;
    if (this.#stack.length > 1) return; // only the outermost names are looked at
    frame.key = text.slice(1, -1);
    this.members.push(frame.key);
  }

  #emit(): void {
    const [captured, place] = [this.#captured, this.#start];
    this.#captured = null;
    if (captured === null || place === null) return;
    this.#onElement({ outer: this.#stack[1]?.index ?? 0, text: captured.join(""), place });
  }

  #wrong(message: string, place: LinePlace): never {
    throw new InputError("input_format", `not JSON: ${message}`, place);
  }
}

const WANTED_DEPTH = 3; // document, list, inner list

/** The position behind a string that begins at `at`; -1 where it does not end. */
function stringEnd(line: string, at: number): number {
  for (let quote = line.indexOf('"', at + 1); quote >= 0; quote = line.indexOf('"', quote + 1)) {
    let back = quote - 1;
    while (line[back] === "\\") back -= 1;
    if ((quote - back) % 2 === 1) return quote + 1; // an even number of backslashes before it
  }
  return -1;
}
