// Which id of the candidate stands for which of the base, space by space, over the lifetimes of what they name. A pair
// is alive from a hand-out to the free; what was freed keeps its pair until one of the two ids is handed out again, for
// a later answer may still name it.
import type { BrokenRenaming } from "../outcome.js";

/** One space of ids. */
class Pairs {
  readonly toCandidate = new Map<number, number>();
  readonly toBase = new Map<number, number>();
  readonly alive = new Set<number>(); // of the base
}

/** All spaces of one run. @internal */
export class IdPairs {
  readonly #spaces = new Map<string, Pairs>();
  broken: BrokenRenaming | null = null; // the first

  /** What stands for an id of the base; undefined where nothing does. */
  candidateOf(space: string, base: number): number | undefined {
    return this.#spaces.get(space)?.toCandidate.get(base);
  }

  /** An id that was handed out, or one that is named while it is held. */
  meet(space: string, base: number, candidate: number): boolean {
    const pairs = this.#pairs(space);
    const known = pairs.toCandidate.get(base);
    const other = pairs.toBase.get(candidate);
    if (known === candidate && other === base) {
      pairs.alive.add(base);
      return true;
    }
    const isTaken = known !== undefined && pairs.alive.has(base);
    const isOtherTaken = other !== undefined && pairs.alive.has(other);
    if (isTaken || isOtherTaken) return this.#break(space, base, candidate, isTaken ? known : null);
    this.#pair(pairs, base, candidate);
    pairs.alive.add(base);
    return true;
  }

  /** An id that is handed out, whatever held it before: nothing tells when ids of its space come back. */
  meetAnew(space: string, base: number, candidate: number): boolean {
    this.#pairs(space).alive.delete(base);
    const other = this.#pairs(space).toBase.get(candidate);
    if (other !== undefined) this.#pairs(space).alive.delete(other);
    return this.meet(space, base, candidate);
  }

  /** An id that comes back; it may have come back before and be named once more. */
  leave(space: string, base: number, candidate: number): boolean {
    const pairs = this.#pairs(space);
    const known = pairs.toCandidate.get(base);
    const other = pairs.toBase.get(candidate);
    pairs.alive.delete(base);
    if (known === candidate && other === base) return true;
    if (known !== undefined || other !== undefined) {
      return this.#break(space, base, candidate, known ?? null);
    }
    this.#pair(pairs, base, candidate);
    return true;
  }

  /** Every id begins anew. */
  clear(): void {
    this.#spaces.clear();
  }

  #pair(pairs: Pairs, base: number, candidate: number): void {
    const stale = pairs.toCandidate.get(base);
    if (stale !== undefined) pairs.toBase.delete(stale);
    const staleBase = pairs.toBase.get(candidate);
    if (staleBase !== undefined) pairs.toCandidate.delete(staleBase);
    pairs.toCandidate.set(base, candidate);
    pairs.toBase.set(candidate, base);
  }

  #break(space: string, base: number, candidate: number, expected: number | null): false {
    this.broken ??= { space, base, candidate, expected };
    return false;
  }

  #pairs(space: string): Pairs {
    let pairs = this.#spaces.get(space);
    if (pairs === undefined) this.#spaces.set(space, (pairs = new Pairs()));
    return pairs;
  }
}
