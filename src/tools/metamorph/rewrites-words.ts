// Rewrites of words: other names, other hashes of keys. An allocator may compare names, and do nothing else with them.
import type { KvOperation } from "../../base/operations.js";
import type { Prng } from "../../base/prng.js";
import { rewritten, specOf, withArgs } from "../shrink/arguments.js";
import { unchanged } from "./rewrite-types.js";
import type { Rewrite } from "./rewrite-types.js";

/** Every request, forward, copy, load, transfer, writer and holder gets another name. @internal */
export const renameNames: Rewrite = ({ ops }, prng) => {
  const fresh = new FreshWords(prng);
  const steps = ops.map((operation, n) => {
    const args = rewritten(specOf(operation).args, operation.args, (spec, value) => {
      const isName =
        spec.type === "name" ||
        (spec.type === "text" && (spec.rule === "signal" || spec.rule === "holder"));
      if (!isName) return value;
      const text = value as string; // names are texts
      return fresh.of(text, (number) => `${text.charAt(0)}${String(number)}.renamed`);
    });
    return unchanged(withArgs(operation, args), n);
  });
  return fresh.back.size === 0 ? null : { steps, rule: "answers", words: fresh.back };
};

/** Every hash of a key becomes another. @internal */
export const renameHashes: Rewrite = ({ ops }, prng) => {
  const fresh = new FreshWords(prng);
  const steps = ops.map((operation, n) => unchanged(withHashes(operation, fresh), n));
  return fresh.back.size === 0 ? null : { steps, rule: "answers" };
};

function withHashes(operation: KvOperation, fresh: FreshWords): KvOperation {
  const args = rewritten(specOf(operation).args, operation.args, (spec, value) => {
    if (spec.type !== "tuple") return value; // the only tuples of arguments are segments of keys
    const [hash, tokens] = value as readonly [unknown, number];
    return [fresh.of(hash, (number) => number), tokens];
  });
  return withArgs(operation, args);
}

/** One to one, in no order that the old words had. */
class FreshWords {
  readonly #prng: Prng;
  readonly #words = new Map<unknown, unknown>();
  readonly back = new Map<unknown, unknown>();

  constructor(prng: Prng) {
    this.#prng = prng;
  }

  of(word: unknown, make: (number: number) => unknown): unknown {
    let made = this.#words.get(word);
    while (made === undefined) {
      const drawn = make(this.#prng.below(2 ** 31));
      if (!this.back.has(drawn)) made = drawn;
    }
    this.#words.set(word, made);
    this.back.set(made, word);
    return made;
  }
}
