// The digests of two sides, as the current value of every component. An answer lists the components that changed;
// a side may list unchanged ones as well, so what counts is the value, not that it was listed.
import type { Digests } from "../base/operations.js";
import type { ComponentDifference } from "./outcome.js";

type Values = Record<string, string | undefined>;

const NONE: Digests = Object.freeze({});

/** Follows both sides of one run. @internal */
export class DigestPair {
  // One table while every operation was applied on both sides and agreed; two after a base operation was dropped.
  #base: Values = Object.create(null) as Values;
  #candidate: Values = this.#base;

  /** Takes both answers' digests in; true while every component agrees. */
  agree(base: Digests = NONE, candidate: Digests = NONE): boolean {
    if (this.#base === this.#candidate && this.#agreeAsListed(base, candidate)) return true;
    return this.#agreeByValue(base, candidate);
  }

  /** The base side moved on alone: its operation was dropped for the candidate. */
  baseOnly(base: Digests = NONE): void {
    if (this.#base === this.#candidate) {
      this.#candidate = Object.assign(Object.create(null) as Values, this.#base);
    }
    Object.assign(this.#base, base);
  }

  /** Whether every component agrees now. */
  areSame(): boolean {
    const base = this.#base;
    const candidate = this.#candidate;
    if (base === candidate) return true;
    for (const name in base) if (base[name] !== candidate[name]) return false;
    for (const name in candidate) if (candidate[name] !== base[name]) return false;
    this.#candidate = base; // one table again: what follows is the common case
    return true;
  }

  /** The components that differ now, in the order in which the base lists them. */
  differences(): ComponentDifference[] {
    if (this.areSame()) return [];
    const names = new Set([...Object.keys(this.#base), ...Object.keys(this.#candidate)]);
    const found: ComponentDifference[] = [];
    for (const component of names) {
      const base = this.#base[component] ?? null;
      const candidate = this.#candidate[component] ?? null;
      if (base !== candidate) found.push({ component, base, candidate });
    }
    return found;
  }

  /** The components that both sides have told of and that agree now. */
  agreeing(): string[] {
    return Object.keys(this.#base).filter((name) => this.#base[name] === this.#candidate[name]);
  }

  // The common case: both list the same components with the same values. What is stored before a difference is found
  // agrees on both sides.
  #agreeAsListed(base: Digests, candidate: Digests): boolean {
    const values = this.#base;
    let listed = 0;
    for (const component in base) {
      const digest = base[component];
      if (digest !== candidate[component]) return false;
      values[component] = digest;
      listed += 1;
    }
    for (const _ in candidate) listed -= 1;
    return listed === 0;
  }

  #agreeByValue(base: Digests, candidate: Digests): boolean {
    if (this.#base === this.#candidate) this.baseOnly();
    Object.assign(this.#base, base);
    Object.assign(this.#candidate, candidate);
    for (const component of [...Object.keys(base), ...Object.keys(candidate)]) {
      if (this.#base[component] !== this.#candidate[component]) return false;
    }
    return true;
  }
}
