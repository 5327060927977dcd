// Passes over arguments: lengths, counts, keys, optional parts; then the names, in the order in which they appear.
import type { KvOperation } from "../../base/operations.js";
import { NAME_LETTERS } from "../../trace/fields.js";
import { rewritten, specOf, withArgs } from "./arguments.js";
import type { Work } from "./case.js";
import { fromEnd } from "./operation-passes.js";
import { rewrite } from "./rewrite.js";
import type { Search } from "./search.js";
import { smallerValues } from "./smaller-values.js";

/** Makes the arguments of each operation smaller, later token positions following. @internal */
export async function shrinkArguments(search: Search): Promise<boolean> {
  return search.sweep("arguments", Infinity, function* (best, cursor) {
    for (const [index, { operation }] of fromEnd(best, cursor)) {
      for (const args of smallerValues(specOf(operation).args, operation.args)) {
        const changes = new Map([[index, withArgs(operation, args)]]);
        yield { work: rewrite(best, changes, true), cursor: index };
      }
    }
  });
}

/** Renames what is named: `r1`, `r2`, … as they appear, and the hashes of keys likewise. @internal */
export async function renameAll(search: Search): Promise<boolean> {
  return search.sweep("names", 0, function* (best, cursor) {
    if (cursor > 0) return;
    yield { work: renamed(best, true, true), cursor: 1 };
    yield { work: renamed(best, true, false), cursor: 1 };
    yield { work: renamed(best, false, true), cursor: 1 };
  });
}

function renamed(best: Work, names: boolean, hashes: boolean): Work {
  const renaming = new Renaming();
  const pieces = best.pieces.map((piece) => {
    let { operation } = piece;
    if (names) operation = renaming.names(operation);
    if (hashes) operation = renaming.hashes(operation);
    return operation === piece.operation ? piece : { ...piece, operation };
  });
  return { ...best, pieces };
}

/** One to one, made up as words are met. */
class Renaming {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #hashes = new Map<unknown, number>();

  names(operation: KvOperation): KvOperation {
    const args = rewritten(specOf(operation).args, operation.args, (spec, value) => {
      if (spec.type === "name") return this.#name(value as string, NAME_LETTERS[spec.kind]);
      // a holder is a name of its own; of a signal the letter tells what it names
      if (spec.type !== "text" || (spec.rule !== "signal" && spec.rule !== "holder")) return value;
      return this.#name(value as string, (value as string).charAt(0));
    });
    return withArgs(operation, args);
  }

  #name(name: string, letter: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const count = (this.#counts.get(letter) ?? 0) + 1;
    this.#counts.set(letter, count);
    const made = `${letter}${String(count)}`;
    this.#names.set(name, made);
    return made;
  }

  hashes(operation: KvOperation): KvOperation {
    const args = rewritten(specOf(operation).args, operation.args, (spec, value) => {
      if (spec.type !== "tuple") return value; // the only tuples of arguments are segments of keys
      const [hash, tokens] = value as readonly [unknown, number];
      const known = this.#hashes.get(hash) ?? this.#hashes.size + 1;
      this.#hashes.set(hash, known);
      return known === hash ? value : [known, tokens];
    });
    return withArgs(operation, args);
  }
}
