// Builds scripts: verb after verb in 32-bit words, `[verb, total words, arguments…]`, in the encoding of
// `native/include/ut/backend.h`. One buffer is used again and again, so that a steady state allocates nothing.

/** Numbers of the verbs; their arguments stand in `backend.h`. @internal */
export const VERB = {
  zero: 1,
  move: 2,
  bind: 3,
  row: 4,
  expect: 5,
  stamp: 6,
  reset: 7,
  forward: 8,
  record: 9,
  wait: 10,
  barrier: 11,
  hostCopy: 12,
  send: 13,
  receive: 14,
  hostWait: 15,
  hostRead: 16,
  forget: 17,
  delay: 18,
  synchronize: 19,
  fill: 20,
} as const;

/** Streams that `delay` names. @internal */
export const STREAM = { schedule: 0, forward: 1, out: 2, in: 3 } as const;

const FIRST_WORDS = 1024;

/** A script under construction. @internal */
export class Script {
  #words = new Int32Array(FIRST_WORDS);
  #count = 0;
  #verbAt = -1; // of the open verb

  get words(): Int32Array {
    return this.#words;
  }
  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
    this.#verbAt = -1;
  }

  /** Opens a verb; `end` closes it. */
  begin(verb: number): this {
    this.#verbAt = this.#count;
    return this.put(verb).put(0);
  }
  /** Appends a word; stamps and hashes may be given unsigned. */
  put(word: number): this {
    if (this.#count === this.#words.length) this.#grow();
    this.#words[this.#count++] = word;
    return this;
  }
  putAll(words: ArrayLike<number>): this {
    for (let at = 0; at < words.length; at++) this.put(words[at]!); // in range
    return this;
  }
  /** Where the next word goes; a count that is known later is put there with `set`. */
  get position(): number {
    return this.#count;
  }
  set(position: number, word: number): void {
    this.#words[position] = word;
  }
  end(): void {
    this.#words[this.#verbAt + 1] = this.#count - this.#verbAt;
  }

  /** A verb whose arguments are known. */
  verb(verb: number, ...args: readonly number[]): void {
    this.begin(verb).putAll(args).end();
  }

  #grow(): void {
    const wider = new Int32Array(this.#words.length * 2);
    wider.set(this.#words);
    this.#words = wider;
  }
}
