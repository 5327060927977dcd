// Two recorded runs under different names: which name of one stands for which of the other, built along the run. A name that
// is opened anew is paired anew; what is no name has to be the same.
import { canonicalJson } from "../../base/canonical-json.js";
import type { Answer } from "../../base/operations.js";
import { canonicalValue } from "../../trace/canonical.js";
import type { OpLine } from "../../trace/lines.js";
import { EFFECTS, ERROR } from "../../trace/line-specs.js";
import { findOperation } from "../../trace/operation-table.js";
import { renamed } from "../anonymize/rename.js";
import type { Words } from "../anonymize/rename.js";
import { rewritten } from "../shrink/arguments.js";

type Word = string | number;

const KEPT = 262_144; // pairs of one kind; older ones are forgotten, so that memory does not grow with the run

/** One-to-one pairs of words. */
class Pairs {
  readonly #forth = new Map<Word, Word>(); // base to candidate
  readonly #back = new Map<Word, Word>();

  /** Pairs two words; false where one of them is another's. */
  pair(base: Word, candidate: Word, isNew: boolean): boolean {
    if (isNew) this.#forget(base, candidate);
    const [known, other] = [this.#forth.get(base), this.#back.get(candidate)];
    if (known !== undefined || other !== undefined) return known === candidate && other === base;
    this.#forth.set(base, candidate);
    this.#back.set(candidate, base);
    if (this.#forth.size > KEPT) {
      for (const [oldest, partner] of this.#forth) {
        this.#forget(oldest, partner);
        break;
      }
    }
    return true;
  }

  /** The base's word for one of the candidate's. */
  back<W extends Word>(candidate: W): W {
    return (this.#back.get(candidate) ?? candidate) as W; // pairs are of one kind
  }

  #forget(base: Word, candidate: Word): void {
    const [partner, other] = [this.#forth.get(base), this.#back.get(candidate)];
    this.#forth.delete(base);
    this.#back.delete(candidate);
    if (partner !== undefined) this.#back.delete(partner);
    if (other !== undefined) this.#forth.delete(other);
  }
}

interface Met {
  readonly kind: "name" | "word" | "hash";
  readonly word: Word;
  readonly isNew: boolean;
}

const SAME: Words = { name: (text) => text, word: (text) => text, hash: (hash) => hash };

/** @internal */
export class NamePairs {
  readonly #pairs = { name: new Pairs(), word: new Pairs(), hash: new Pairs() };
  readonly #back: Words = {
    name: (text) => this.#pairs.name.back(text),
    word: (text) => this.#pairs.word.back(text),
    hash: (hash) => this.#pairs.hash.back(hash),
  };
  #isOther = false; // some name is another one on the other side

  /**
   * The candidate's line in the base's names; null where the two do not ask the same.
   * @param expected - the base's operation with the candidate's ids among its arguments
   */
  told(base: OpLine, expected: OpLine, candidate: OpLine): OpLine | null {
    if (base.op !== candidate.op) return null;
    const spec = findOperation(base.op)!; // lines that were read name operations
    const [ours, theirs] = [wordsOf(base), wordsOf(candidate)];
    if (ours.length !== theirs.length) return null;
    for (const [index, { kind, word, isNew }] of ours.entries()) {
      const other = theirs[index]!; // as many
      if (other.kind !== kind || !this.#pairs[kind].pair(word, other.word, isNew)) return null;
      this.#isOther ||= word !== other.word;
    }
    const args = renamed(spec.args, candidate.args, this.#back);
    const own = renamed(spec.args, expected.args, SAME);
    if (canonicalJson(args) !== canonicalJson(own)) return null;
    if (!this.#isOther) return candidate;
    return { ...candidate, args: base.args, ...this.#answer(candidate) } as OpLine; // in other words
  }

  #answer({ op, ok, err, fx }: OpLine): Answer {
    const { name } = this.#back;
    const holders = err?.holders;
    const error = err && (renamed(ERROR, err, this.#back) as NonNullable<Answer["err"]>);
    return {
      ...(ok === undefined ? {} : { ok: renamed(findOperation(op)!.ok, ok, this.#back) }),
      ...(error && {
        err: holders === undefined ? error : { ...error, holders: holders.map(name) },
      }),
      ...(fx === undefined ? {} : { fx: renamed(EFFECTS, fx, this.#back) }),
    } as Answer; // the same in other words
  }
}

/** Names, hashes of keys and other texts among an operation's arguments, in the order of its fields. */
function wordsOf({ op, args }: OpLine): readonly Met[] {
  const met: Met[] = [];
  const spec = findOperation(op)!.args; // lines that were read name operations
  rewritten(spec, canonicalValue(spec, args), (spec, value) => {
    if (spec.type === "name") {
      met.push({ kind: "name", word: value as string, isNew: spec.role === "opens" });
    } else if (spec.type === "text" && (spec.rule === "holder" || spec.rule === "signal")) {
      met.push({ kind: "name", word: value as string, isNew: false });
    } else if (spec.type === "tuple") {
      // the only tuples of arguments are segments of keys
      met.push({ kind: "hash", word: (value as readonly [Word, number])[0], isNew: false });
    } else if (spec.type === "text" && spec.rule === "any") {
      met.push({ kind: "word", word: value as string, isNew: false });
    }
    return value;
  });
  return met;
}
