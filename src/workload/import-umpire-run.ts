// What the events of an Umpire log mean, whichever form they stand in. An operation that two events tell (a
// reallocation; in the older form an allocation too) is written when the second one comes.
import { InputError } from "../base/errors.js";
import { producerBlock } from "../trace/header.js";
import type { LogPlace, TranslatorOptions } from "./import-format.js";
import { addressBelow, addressOf } from "./import-fields.js";
import { HeapRun } from "./import-heap.js";
import type { EventSpan } from "./import-heap.js";

/** An event's place in the log. @internal */
export interface EventAt {
  readonly index: number; // 0-based, comments not counted
  readonly atUs: number | null; // microseconds since the first event
}

/** What was said when an operation of two events began. */
interface Intent {
  readonly at: EventAt;
  readonly address: string | null; // of a reallocation
  readonly object: string | null; // that lived there
  readonly size: number;
}

/** @internal */
export interface Copied {
  readonly from: string | null;
  readonly fromOffset: number; // bytes of `from` from the beginning of its object
  readonly to: string | null;
  readonly toOffset: number;
  readonly size: number;
}

const TOLD_INSIDE = "reallocation that the allocation and the free inside it tell";
const UNFINISHED = "intent without a result";
const OUTSIDE = "outside every allocation of the log";

/** @internal */
export class UmpireRun {
  readonly heap = new HeapRun("umpire");
  readonly #hasTime: boolean;
  readonly #arenaBytes: number | null;
  readonly #intents = new Map<string, Intent[]>(); // by what names the pair, newest at the end
  #isOpen = false;
  #form = "events";
  #firstNs: bigint | null = null;

  constructor({ time, arenaBytes }: TranslatorOptions) {
    this.#hasTime = time;
    this.#arenaBytes = arenaBytes;
  }

  /** Counts an event and says where it stands. */
  nextEvent(form: string, text: string): EventAt {
    this.#form = form;
    const index = this.heap.tally.events;
    this.heap.tally.events += 1;
    return { index, atUs: this.#hasTime ? this.#microseconds(text) : null };
  }

  /** The first event says which build made the log. It names the producer and is compared with nothing. */
  version(version: string, revision: string | null): void {
    if (this.#isOpen) {
      this.heap.tally.drop("version");
      return;
    }
    this.#open(version, revision);
    this.heap.tally.drop("version");
  }

  makePool(
    reference: string,
    called: string,
    type: string,
    args: readonly unknown[],
    at: EventAt | EventSpan,
  ): void {
    this.#opened();
    const words = [called, ...args.map((arg) => this.#argument(arg))];
    this.heap.makePool(reference, called, plainType(type), words, spanOf(at));
  }

  allocate(
    address: string | null,
    size: number,
    pool: string,
    at: EventAt | EventSpan,
    place: LogPlace,
  ): void {
    this.#opened();
    this.heap.allocate(address, { size, pool: this.heap.poolBehind(pool) }, spanOf(at), place);
  }

  free(address: string | null, at: EventAt, place: LogPlace): void {
    this.#opened();
    if (address === null) this.heap.tally.drop("free of the null pointer");
    else this.heap.free(address, spanOf(at), place);
  }

  /** An operation of two events begins. @param pair - what both events of it have in common */
  begin(pair: string, at: EventAt, address: string | null = null, size = 0): void {
    this.#opened();
    const object = address === null ? null : this.heap.object(address);
    const open = this.#intents.get(pair);
    const intent = { at, address, object, size };
    if (open === undefined) this.#intents.set(pair, [intent]);
    else open.push(intent);
  }

  /** The events of an operation whose result has come; that one alone where its intent is missing. */
  end(pair: string, at: EventAt): EventSpan {
    const intent = this.#take(pair);
    return intent === null ? spanOf(at) : { ...spanOf(at), first: intent.at.index, count: 2 };
  }

  /** The result of a reallocation. */
  reallocated(
    pair: string,
    to: string | null,
    pool: string | null,
    at: EventAt,
    place: LogPlace,
  ): void {
    const intent = this.#take(pair);
    if (intent === null) {
      throw new InputError(
        "input_format",
        "the result of a reallocation that no event begins",
        place,
      );
    }
    const { address, object, size } = intent;
    const events = { ...spanOf(at), first: intent.at.index, count: 2 };
    const { heap } = this;
    if (address === null) {
      if (to !== null && heap.object(to) !== null) heap.tally.drop(TOLD_INSIDE, 2);
      else {
        const behind = pool === null ? null : heap.poolBehind(pool);
        heap.allocate(to, { size, pool: behind }, events, place);
      }
    } else if (object !== null && !heap.isLiveAt(address, object)) {
      heap.tally.drop(TOLD_INSIDE, 2);
    } else {
      heap.resize(address, to, size, events, place);
    }
  }

  copy(copied: Copied, at: EventAt): void {
    this.#opened();
    const from = this.#objectAt(copied.from, copied.fromOffset);
    const to = this.#objectAt(copied.to, copied.toOffset);
    if (from !== null && to !== null) this.heap.copy(from, to, copied.size, spanOf(at));
    else {
      const side = from === null ? "its source" : "its target";
      this.heap.mark(`copy of ${copied.size} bytes, ${side} ${OUTSIDE}`);
    }
  }

  release(pool: string, at: EventAt): void {
    this.#opened();
    this.heap.release(this.heap.poolBehind(pool), spanOf(at));
  }

  coalesce(called: string, at: EventAt): void {
    this.#opened();
    this.heap.coalesce(this.heap.poolCalled(called), spanOf(at));
  }

  mark(text: string): void {
    this.#opened();
    this.heap.mark(text);
  }

  /** What a reference's pool is called. */
  called(reference: string): string {
    return this.heap.nameOf(this.heap.poolBehind(reference));
  }

  drop(reason: string): void {
    this.#opened();
    this.heap.tally.drop(reason);
  }

  /** An event that no rule names: left out, and the import is incomplete. */
  unknown(name: string): void {
    this.drop(`unknown event ${name}`);
    this.heap.tally.unknown += 1;
  }

  finish(file: string): void {
    if (this.heap.tally.events === 0) {
      throw new InputError("input_format", "holds no event", { file });
    }
    this.#opened();
    for (const open of this.#intents.values()) {
      if (open.length > 0) this.heap.tally.drop(UNFINISHED, open.length);
    }
    this.heap.close();
  }

  #opened(): void {
    if (!this.#isOpen) this.#open("unknown", null);
  }

  #open(version: string, revision: string | null): void {
    this.#isOpen = true;
    const source = { type: "import", name: "umpire", form: this.#form } as const;
    this.heap.open(producerBlock("umpire", version, revision, null), source, this.#arenaBytes);
  }

  #take(pair: string): Intent | null {
    const open = this.#intents.get(pair);
    const intent = open?.pop() ?? null;
    if (open?.length === 0) this.#intents.delete(pair);
    return intent;
  }

  // A copy may name a place inside an object; the log tells how far inside.
  #objectAt(address: string | null, offset: number): string | null {
    if (address === null) return null;
    return this.heap.object(addressBelow(address, offset)) ?? this.heap.object(address);
  }

  // An address would name a place of that one process: the pool behind it stands for it.
  #argument(value: unknown): string | number {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (/^\d{1,15}$/.test(text)) return Number(text);
    const address = addressOf(text);
    if (address === undefined || address === null) return text;
    return this.heap.pool(address) ?? "an address";
  }

  // The digits of the text: as a number a time in nanoseconds loses its last ones.
  #microseconds(text: string): number {
    const digits = /"timestamp"\s*:\s*"?(\d{1,20})/.exec(text)?.[1];
    if (digits === undefined) return 0;
    const now = BigInt(digits);
    this.#firstNs ??= now;
    return now < this.#firstNs ? 0 : Number((now - this.#firstNs) / 1000n);
  }
}

function spanOf(at: EventAt | EventSpan): EventSpan {
  if ("first" in at) return at;
  return { first: at.index, last: at.index, count: 1, atUs: at.atUs };
}

/** A type as its compiler mangled it, in plain words: two builds may spell one type differently. */
function plainType(type: string): string {
  const inner = /^N(\w+)E$/.exec(type)?.[1];
  if (inner === undefined) return type;
  const names: string[] = [];
  let rest = inner;
  while (rest !== "") {
    const digits = /^[1-9]\d{0,3}/.exec(rest)?.[0];
    if (digits === undefined) return type; // templates and the like stay as they are
    const end = digits.length + Number(digits);
    if (end > rest.length) return type;
    names.push(rest.slice(digits.length, end));
    rest = rest.slice(end);
  }
  return names.join("::");
}
