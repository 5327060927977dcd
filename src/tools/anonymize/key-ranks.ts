// Other hashes for the segments of tree keys: their ranks. Order is kept, numbers before texts, since siblings in the tree
// stand in the order of their keys and what is freed with them is listed so.
import { InternalError } from "../../base/errors.js";

type Hash = number | string;

/** Collects the hashes of a trace, then names each by its rank. Memory is that of the different hashes. @internal */
export class KeyRanks {
  readonly #met = new Set<Hash>();
  #ranks: ReadonlyMap<Hash, Hash> | null = null;

  note(hash: Hash): void {
    this.#met.add(hash);
  }

  get size(): number {
    return this.#met.size;
  }

  of(hash: Hash): Hash {
    this.#ranks ??= ranked(this.#met);
    const rank = this.#ranks.get(hash);
    if (rank === undefined) throw new InternalError("a hash that the first reading did not meet");
    return rank;
  }
}

function ranked(met: ReadonlySet<Hash>): ReadonlyMap<Hash, Hash> {
  const numbers: number[] = [];
  const texts: string[] = [];
  for (const hash of met) {
    if (typeof hash === "number") numbers.push(hash);
    else texts.push(hash);
  }
  numbers.sort((left, right) => left - right);
  texts.sort((left, right) => (left < right ? -1 : 1)); // by code unit, as keys are ordered
  const digits = String(texts.length).length;
  return new Map<Hash, Hash>([
    ...numbers.map((hash, rank): [Hash, Hash] => [hash, rank + 1]),
    ...texts.map((hash, rank): [Hash, Hash] => [
      hash,
      `k${String(rank + 1).padStart(digits, "0")}`,
    ]),
  ]);
}
