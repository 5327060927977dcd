// Keys of the prefix tree. Tokens are never listed: a key is segments, and two keys agree token by token as (hash,
// offset in its segment), so a comparison costs its segments.
import { hashOn } from "../../base/digest.js";
import type { Key } from "../../base/operations.js";

/** A run of tokens of one segment, from an offset on. @internal */
export type KeyPiece = readonly [hash: number | string, offset: number, tokens: number];

/** Walks along a key from its first token. @internal */
export class KeyReader {
  readonly #pieces: readonly KeyPiece[];
  readonly tokens: number; // of the whole key
  position = 0; // tokens read
  #index = 0; // piece that holds the next token
  #into = 0; // tokens of that piece read already

  constructor(key: Key | readonly KeyPiece[]) {
    this.#pieces = key
      .map((segment): KeyPiece => (segment.length === 2 ? [segment[0], 0, segment[1]] : segment))
      .filter(([, , tokens]) => tokens > 0);
    this.tokens = countTokens(this.#pieces);
  }

  /** Tokens left to read. */
  get left(): number {
    return this.tokens - this.position;
  }

  /** The pieces of the next `tokens` tokens, at most what is left; nothing is read. */
  slice(tokens: number): readonly KeyPiece[] {
    const pieces: KeyPiece[] = [];
    let wanted = Math.min(tokens, this.left);
    let into = this.#into;
    for (let index = this.#index; wanted > 0; index++) {
      const [hash, offset, count] = this.#pieces[index]!; // tokens are left
      const taken = Math.min(wanted, count - into);
      pieces.push([hash, offset + into, taken]);
      wanted -= taken;
      into = 0;
    }
    return pieces;
  }

  /** How many of the next tokens agree with `pieces` from their start. */
  agreement(pieces: readonly KeyPiece[]): number {
    const own = this.slice(countTokens(pieces));
    let agreed = 0;
    let ownIndex = 0;
    let ownInto = 0;
    for (const [hash, offset, tokens] of pieces) {
      for (let into = 0; into < tokens;) {
        const piece = own[ownIndex];
        if (piece === undefined) return agreed;
        if (piece[0] !== hash || piece[1] + ownInto !== offset + into) return agreed;
        const common = Math.min(tokens - into, piece[2] - ownInto);
        agreed += common;
        into += common;
        ownInto += common;
        if (ownInto < piece[2]) continue;
        ownIndex += 1;
        ownInto = 0;
      }
    }
    return agreed;
  }

  /** Reads on by `tokens`, at most what is left. */
  skip(tokens: number): void {
    let wanted = Math.min(tokens, this.left);
    this.position += wanted;
    while (wanted > 0) {
      const rest = this.#pieces[this.#index]![2] - this.#into; // tokens are left
      if (wanted < rest) {
        this.#into += wanted;
        return;
      }
      wanted -= rest;
      this.#index += 1;
      this.#into = 0;
    }
  }
}

/** @internal */
export function countTokens(pieces: readonly KeyPiece[]): number {
  return pieces.reduce((sum, [, , tokens]) => sum + tokens, 0);
}

/** One text a content: what children are found by, and what digests take of a page. @internal */
export function textOf(pieces: readonly KeyPiece[]): string {
  return pieces
    .map(([hash, offset, tokens]) => `${JSON.stringify(hash)}:${offset}+${tokens}`)
    .join(",");
}

/** Order of keys: token by token, numbers before texts. @internal */
export function compareKeys(left: readonly KeyPiece[], right: readonly KeyPiece[]): number {
  for (const [index, [hash, offset, tokens]] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (hash !== other[0]) return isBefore(hash, other[0]) ? -1 : 1;
    if (offset !== other[1]) return offset - other[1];
    if (tokens !== other[2]) return tokens - other[2];
  }
  return left.length - right.length;
}

function isBefore(left: number | string, right: number | string): boolean {
  if (typeof left === typeof right) return left < right;
  return typeof left === "number";
}

/** By page of `pieces`: the hash of the whole path up to the page's end, which begins with `before`, the path above. @internal */
export function hashPages(
  pieces: readonly KeyPiece[],
  pageTokens: number,
  before: number,
): number[] {
  const reader = new KeyReader(pieces);
  const hashes: number[] = [];
  let hash = before;
  while (reader.left > 0) {
    hash = hashOn(hash, textOf(reader.slice(pageTokens)));
    hashes.push(hash);
    reader.skip(pageTokens);
  }
  return hashes;
}
