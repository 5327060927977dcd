// Keys of prompts: documents that share prefixes, some of them only as far as the middle of a page.
import type { Key } from "../base/operations.js";
import type { Prng } from "../base/prng.js";

/** The first `tokens` tokens of a key, or all of it where it is shorter. @internal */
export function cutKey(key: Key, tokens: number): Key {
  const cut: (readonly [number | string, number])[] = [];
  let left = tokens;
  for (const [hash, count] of key) {
    if (left <= 0) break;
    cut.push([hash, Math.min(count, left)]);
    left -= count;
  }
  return cut;
}

/** The same key made longer: its last segment goes on. A key without segments stays as it is. @internal */
export function lengthenKey(key: Key, tokens: number): Key {
  const last = key.at(-1);
  if (last === undefined) return key;
  const more = tokens - keyTokens(key);
  return more <= 0 ? key : [...key.slice(0, -1), [last[0], last[1] + more]];
}

/** @internal */
export function keyTokens(key: Key): number {
  return key.reduce((sum, [, tokens]) => sum + tokens, 0);
}

/** Tokens that two keys have in common from their start; they agree by (hash, offset in the segment). @internal */
export function commonTokens(left: Key, right: Key): number {
  let common = 0;
  for (const [index, [hash, tokens]] of left.entries()) {
    const other = right[index];
    if (other?.[0] !== hash) return common;
    common += Math.min(tokens, other[1]);
    if (tokens !== other[1]) return common;
  }
  return common;
}

const DOCUMENTS_MOST = 10;

/** Draws documents: new ones, and ones that branch off a known one. @internal */
export class KeySource {
  readonly #documents: Key[] = [];
  readonly #pageSize: number; // tokens
  readonly #tokens: number; // length of a document
  #hashes = 0;

  constructor(pageSize: number, tokens: number) {
    this.#pageSize = pageSize;
    this.#tokens = tokens;
  }

  /** A document as long as the longest row. */
  document(prng: Prng): Key {
    const known = this.#documents;
    if (known.length > 0 && prng.chance(3, 5)) return prng.pick(known);
    const isBranch = known.length > 0 && prng.chance(2, 3);
    const document = isBranch ? this.#branch(prng.pick(known), prng) : this.fresh();
    if (known.length < DOCUMENTS_MOST) known.push(document);
    else known[prng.below(known.length)] = document;
    return document;
  }

  /** A document that shares nothing with any other. */
  fresh(): Key {
    this.#hashes += 1;
    // Both kinds of hash are legal.
    return [[this.#hashes % 4 === 0 ? `d${String(this.#hashes)}` : this.#hashes, this.#tokens]];
  }

  /** A length of a prompt in tokens: a few pages, often whole ones. */
  promptTokens(prng: Prng): number {
    const pages = prng.between(1, 8);
    return pages * this.#pageSize + (prng.chance(1, 2) ? 0 : prng.below(this.#pageSize));
  }

  #branch(document: Key, prng: Prng): Key {
    const at = Math.min(this.promptTokens(prng), this.#tokens - 1);
    return [...cutKey(document, at), ...this.fresh()];
  }
}
