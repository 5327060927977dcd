// Checks a script before any of it runs: lengths, bands, pages, ids, rows, units, handles. What a native backend refuses as
// `UT_INVALID` is refused here in the same way.
import { type ByteBand, type ByteConfig, ByteError } from "./bytes.js";
import { VERB } from "./bytes-script.js";

const HANDLES_MAX = 65_535;
const DELAY_MAX_US = 10_000_000;
const WRITE_WORDS = 6;

/**
 * Throws `ByteError` (`UT_INVALID`) naming the verb's number for the first word that is wrong.
 * @param handles - those in use before the script
 * @internal
 */
export function checkScript(
  config: ByteConfig,
  words: Int32Array,
  count: number,
  handles: ReadonlySet<number>,
): void {
  if (count > words.length) throw new ByteError("UT_INVALID", "a script longer than its words");
  const check = new Checker(config, words, handles);
  for (let at = 0, number = 1; at < count; number++) {
    check.verb(number, at, count);
    at += words[at + 1]!; // checked
  }
}

class Checker {
  readonly #config: ByteConfig;
  readonly #words: Int32Array;
  readonly #used: Set<number>;
  #number = 0;
  #at = 0; // next word
  #end = 0;

  constructor(config: ByteConfig, words: Int32Array, handles: ReadonlySet<number>) {
    this.#config = config;
    this.#words = words;
    this.#used = new Set(handles);
  }

  verb(number: number, at: number, count: number): void {
    this.#number = number;
    const length = at + 1 < count ? this.#words[at + 1]! : 0;
    if (length < 2 || at + length > count) this.#fail("its length goes beyond the script");
    this.#at = at + 2;
    this.#end = at + length;
    this.#arguments(this.#words[at]!);
    if (this.#at !== this.#end) this.#fail("it has more words than it needs");
  }

  #arguments(verb: number): void {
    switch (verb) {
      case VERB.zero: {
        const band = this.#band();
        for (let n = this.#count(1); n > 0; n--) this.#page(band);
        return;
      }
      case VERB.move:
        this.#move();
        return;
      case VERB.bind:
        this.#bind();
        return;
      case VERB.row: {
        const row = this.#row();
        const [first, n] = [this.#next(), this.#count(1)];
        if (first < 0 || first + n > this.#config.rowPages) this.#fail(`row ${row} is too short`);
        for (let k = 0; k < n; k++) this.#within(this.#next(), 0, 2 ** 31 - 1, "cell");
        return;
      }
      case VERB.expect: {
        const band = this.#band();
        for (let n = this.#count(1 + band.units); n > 0; n--) {
          this.#id(band);
          this.#at += band.units;
        }
        return;
      }
      case VERB.stamp: {
        const band = this.#band();
        for (let n = this.#count(3); n > 0; n--) {
          this.#page(band);
          this.#within(this.#next(), 0, band.units - 1, "unit");
          this.#next();
        }
        return;
      }
      case VERB.reset:
        for (let n = this.#count(1); n > 0; n--) this.#row();
        return;
      case VERB.forward:
        this.#forward();
        return;
      case VERB.record:
      case VERB.wait:
      case VERB.barrier:
      case VERB.hostWait:
        this.#knownHandle();
        return;
      case VERB.forget:
        this.#used.delete(this.#knownHandle());
        return;
      case VERB.hostCopy:
        this.#newHandle();
        this.#within(this.#next(), 0, 1, "direction");
        this.#delay();
        for (let n = this.#count(3); n > 0; n--) {
          const band = this.#band();
          this.#page(band);
          this.#within(this.#next(), 0, band.hostPages - 1, "host page");
        }
        return;
      case VERB.send:
        this.#send();
        return;
      case VERB.receive:
      case VERB.fill:
        this.#newHandle();
        this.#delay();
        for (let n = this.#count(WRITE_WORDS); n > 0; n--) {
          const band = this.#band();
          this.#page(band);
          this.#units(band);
        }
        return;
      case VERB.delay:
        this.#within(this.#next(), 0, 3, "stream");
        this.#delay();
        return;
      case VERB.hostRead:
      case VERB.synchronize:
        return;
      default:
        this.#fail(`there is no verb ${verb}`);
    }
  }

  #move(): void {
    const band = this.#band();
    const isOrdered = this.#within(this.#next(), 0, 1, "flags") === 1;
    const n = this.#count(2);
    if (isOrdered) for (let k = 0; k < 2 * n; k++) this.#page(band);
    else this.#distinctPages(band, 2 * n);
  }

  #bind(): void {
    const band = this.#band();
    this.#within(this.#next(), 0, 1, "flags");
    const ids = new Set<number>();
    for (let n = this.#count(2); n > 0; n--) {
      const id = this.#id(band);
      if (ids.has(id)) this.#fail(`id ${id} is bound twice`);
      ids.add(id);
      const page = this.#next();
      if (page !== 0) this.#within(page, band.firstPage, band.pages - 1, "page");
    }
  }

  #forward(): void {
    this.#newHandle();
    this.#delay();
    const [reads, states, writes] = [this.#next(), this.#next(), this.#next()];
    if (Math.min(reads, states, writes) < 0) this.#fail("a count is negative");
    const total = 2 * reads + 2 * states + WRITE_WORDS * writes;
    if (this.#at + total !== this.#end) this.#fail("its counts do not fit its length");
    for (let k = 0; k < reads; k++) {
      this.#row();
      this.#within(this.#next(), 0, this.#config.rowPages, "pages of a row");
    }
    for (let k = 0; k < states; k++) this.#id(this.#band());
    for (let k = 0; k < writes; k++) {
      const band = this.#band();
      this.#id(band);
      this.#units(band);
    }
  }

  #send(): void {
    this.#newHandle();
    this.#delay();
    const maskWords = this.#within(this.#next(), 1, 2 ** 20, "words a mask");
    for (let n = this.#count(3 + maskWords); n > 0; n--) {
      const band = this.#band();
      if (maskWords * 32 < band.units) this.#fail(`its masks are too short for ${band.name}`);
      this.#page(band);
      this.#at += 1 + maskWords;
    }
  }

  // [from, to, position, writer]
  #units(band: ByteBand): void {
    const [from, to] = [this.#next(), this.#next()];
    if (from < 0 || from > to || to > band.units) this.#fail(`units ${from} to ${to} of a page`);
    this.#at += 2;
  }

  #distinctPages(band: ByteBand, n: number): void {
    const pages = new Set<number>();
    for (let k = 0; k < n; k++) pages.add(this.#page(band));
    if (pages.size !== n) this.#fail(`a page of ${band.name} is named twice`);
  }

  #next(): number {
    if (this.#at >= this.#end) this.#fail("a word is missing");
    return this.#words[this.#at++]!; // inside the verb
  }
  /** A count of entries that must fill the rest of the verb. */
  #count(wordsEach: number): number {
    const n = this.#next();
    if (n < 0 || this.#at + n * wordsEach !== this.#end)
      this.#fail("its count does not fit its length");
    return n;
  }
  #within(value: number, low: number, high: number, what: string): number {
    if (value < low || value > high) this.#fail(`${what} ${value} is not in ${low} to ${high}`);
    return value;
  }
  #band(): ByteBand {
    const index = this.#next();
    return this.#config.bands[index] ?? this.#fail(`there is no band ${index}`);
  }
  #page(band: ByteBand): number {
    return this.#within(this.#next(), band.firstPage, band.pages - 1, `${band.name} page`);
  }
  #id(band: ByteBand): number {
    return this.#within(this.#next(), 1, band.ids - 1, `${band.name} id`);
  }
  #row(): number {
    return this.#within(this.#next(), 1, this.#config.rows, "row");
  }
  #delay(): void {
    this.#within(this.#next(), 0, DELAY_MAX_US, "delay");
  }
  #newHandle(): void {
    const handle = this.#within(this.#next(), 1, HANDLES_MAX, "handle");
    if (this.#used.has(handle)) this.#fail(`handle ${handle} is in use`);
    this.#used.add(handle);
  }
  #knownHandle(): number {
    const handle = this.#next();
    if (!this.#used.has(handle)) this.#fail(`there is no handle ${handle}`);
    return handle;
  }
  #fail(why: string): never {
    throw new ByteError("UT_INVALID", `verb ${this.#number} of the script: ${why}`);
  }
}
