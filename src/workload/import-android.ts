// Recorded allocations of Android's malloc_debug, as memory_replay reads them: `TID: malloc PTR SIZE` and so on, one call a
// line. Newer ones end in the call's first and last nanosecond.
import { InputError } from "../base/errors.js";
import { below, notJson, suggestion } from "../trace/messages.js";
import { addressOf } from "./import-fields.js";
import type { ImportFormat, LogPlace, LogTranslator, TranslatorOptions } from "./import-format.js";
import { MallocRun } from "./import-malloc-run.js";

const NAME = "android";
/** Words behind each function's name, as they are called in messages. */
const FUNCTIONS = {
  malloc: ["PTR", "SIZE"],
  calloc: ["PTR", "NMEMB", "SIZE"],
  realloc: ["NEW", "OLD", "SIZE"],
  memalign: ["PTR", "ALIGN", "SIZE"],
  free: ["PTR"],
  thread_done: ["PTR"],
} as const;
type FunctionName = keyof typeof FUNCTIONS;

/** @internal */
export const ANDROID: ImportFormat = {
  name: NAME,
  about: "Android malloc_debug: `TID: malloc PTR SIZE`, one call a line",
  recognises: (head) => /^\d+: (?:malloc|calloc|realloc|memalign|free|thread_done) 0x/.test(head),
  isComment: () => false,
  open: (options) => new AndroidTranslator(options),
};

/** The words of one line. */
class Call {
  readonly name: FunctionName;
  readonly thread: string;
  readonly #words: readonly string[];
  readonly #place: LogPlace;

  constructor(text: string, place: LogPlace) {
    const [head = "", name = "", ...words] = text.trimEnd().split(" ");
    const thread = /^(\d{1,10}):$/.exec(head)?.[1];
    if (thread === undefined) {
      const expected = "`TID: FUNCTION …` such as `202: malloc 0xb4827400 1024`";
      const message = `is no call: ${notJson(text)}; expected ${expected}`;
      throw new InputError("input_format", message, { ...place, expected });
    }
    if (!Object.hasOwn(FUNCTIONS, name)) {
      const known = Object.keys(FUNCTIONS);
      const message = `unknown function ${JSON.stringify(name)}${suggestion(name, known)}`;
      const expected = known.join(", ");
      throw new InputError("input_format", message, { ...place, path: "/FUNCTION", expected });
    }
    this.name = name as FunctionName; // just looked up
    this.thread = thread;
    this.#words = words;
    this.#place = place;
    const { length } = FUNCTIONS[this.name];
    if (words.length === length || words.length === length + 2) return;
    const expected = `TID: ${name} ${FUNCTIONS[this.name].join(" ")}`;
    const message = `${String(words.length)} words behind ${name}, expected \`${expected}\``;
    throw new InputError("input_format", message, { ...place, expected });
  }

  /** Microseconds of the call's first nanosecond; null where the line does not tell. */
  get startUs(): number | null {
    const { length } = FUNCTIONS[this.name];
    return this.#words.length === length ? null : Math.floor(this.#count(length, "START") / 1000);
  }

  address(word: "PTR" | "NEW" | "OLD"): string | null {
    const text = this.#word(word);
    const address = addressOf(text);
    return address === undefined ? this.#wrong(word, "an address", text) : address;
  }

  count(word: "SIZE" | "NMEMB" | "ALIGN"): number {
    return this.#count(this.#indexOf(word), word);
  }

  /** `NMEMB` x `SIZE`. */
  product(): number {
    const bytes = this.count("NMEMB") * this.count("SIZE");
    if (Number.isSafeInteger(bytes)) return bytes;
    return this.#wrong("SIZE", "bytes below 2^53 in all", `${String(bytes)} bytes`);
  }

  #count(index: number, word: string): number {
    const text = this.#words[index] ?? "";
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value)) return value;
    return this.#wrong(word, "a whole number of at least 0 and below 2^53", text);
  }

  #indexOf(word: string): number {
    return (FUNCTIONS[this.name] as readonly string[]).indexOf(word);
  }

  #word(word: string): string {
    return this.#words[this.#indexOf(word)] ?? "";
  }

  #wrong(word: string, expected: string, found: string): never {
    const message = `${word} of ${this.name} must be ${expected}, found ${JSON.stringify(found)}`;
    const place = { ...this.#place, path: below("", word), expected };
    throw new InputError("input_format", message, place);
  }
}

class AndroidTranslator extends MallocRun implements LogTranslator {
  readonly #threads = new Set<string>();
  #firstUs: number | null = null;

  constructor(options: TranslatorOptions) {
    super(NAME, options);
  }

  take(text: string, place: LogPlace): void {
    const call = new Call(text, place);
    const { name, thread } = call;
    if (!this.#threads.has(thread)) {
      this.#threads.add(thread);
      this.heap.tally.count("threads");
    }
    const us = call.startUs;
    if (us !== null) this.#firstUs ??= us;
    const at = this.event(us === null ? null : Math.max(0, us - (this.#firstUs ?? us)));
    switch (name) {
      case "malloc":
        this.allocate(call.address("PTR"), { size: call.count("SIZE"), thread }, at, place);
        break;
      case "calloc":
        this.allocate(call.address("PTR"), { size: call.product(), thread }, at, place);
        break;
      case "memalign": {
        const align = Math.max(1, call.count("ALIGN"));
        const request = { size: call.count("SIZE"), align, thread };
        this.allocate(call.address("PTR"), request, at, place);
        break;
      }
      case "realloc": {
        const request = { size: call.count("SIZE"), thread };
        this.reallocate(call.address("OLD"), call.address("NEW"), request, at, place);
        break;
      }
      case "free":
        this.free(call.address("PTR"), thread, at, place);
        break;
      case "thread_done":
        this.heap.tally.drop("end of a thread");
    }
  }
}
