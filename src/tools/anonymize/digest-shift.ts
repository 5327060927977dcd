// Digests hash names. A component's digest is a sum of cells, so that other names change it by a difference that depends
// on the names alone: what one implementation's digests differ by, asked under both sets of names, is added to the
// recorded digest. Where that implementation agrees with the recording, the result is its own digest under the new
// names; where it does not, the two differ afterwards in the same components of the same operations.
import { foldDigests, hexOf } from "../../base/digest.js";
import type { Digests } from "../../base/operations.js";
import { inOrder } from "./anonymous-lines.js";

type Lanes = readonly [a: number, b: number];
type Side = "recorded" | "original" | "renamed";

/** The digests of one run. @internal */
export class DigestShift {
  readonly #now: Readonly<Record<Side, Map<string, Lanes>>> = {
    recorded: new Map(),
    original: new Map(),
    renamed: new Map(),
  };
  readonly #written = new Map<string, string>();
  #order: readonly string[] = [];

  /** Whether every component of the run's first digest is one of the implementation's. */
  static fits(recorded: Digests, asked: Digests): boolean {
    return Object.keys(recorded).every((component) => Object.hasOwn(asked, component));
  }

  /** The digest of the next operation, of those components that are listed or change. */
  next(
    recorded: Digests | undefined,
    original: Digests | undefined,
    renamed: Digests | undefined,
  ): Digests | undefined {
    this.#take("recorded", recorded);
    this.#take("original", original);
    this.#take("renamed", renamed);
    if (this.#order.length === 0) this.#order = Object.keys(recorded ?? {});
    const found: Record<string, string> = {};
    for (const component of this.#now.recorded.keys()) {
      const hex = this.#shifted(component);
      const isListed = recorded !== undefined && Object.hasOwn(recorded, component);
      if (!isListed && this.#written.get(component) === hex) continue;
      this.#written.set(component, hex);
      found[component] = hex;
    }
    return Object.keys(found).length === 0 ? undefined : inOrder(found, this.#order);
  }

  /** The digest at the end of the run; one that did not fold the recorded components keeps its distance. */
  end(recorded: string): string {
    const before = this.#order.map((component) => hex(this.#now.recorded.get(component)));
    const after = this.#order.map((component) => this.#shifted(component));
    return hex(shift(lanes(recorded), lanes(foldDigests(before)), lanes(foldDigests(after))));
  }

  /** What names do to digests as the run stands now. */
  now(): NameShift {
    const { original, renamed } = this.#now;
    return new NameShift(new Map(original), new Map(renamed));
  }

  #shifted(component: string): string {
    const { recorded, original, renamed } = this.#now;
    return hex(
      shift(recorded.get(component) ?? NONE, original.get(component), renamed.get(component)),
    );
  }

  #take(side: Side, digests: Digests | undefined): void {
    for (const [component, digest] of Object.entries(digests ?? {})) {
      this.#now[side].set(component, lanes(digest));
    }
  }
}

/** What names do to digests after one operation. @internal */
export class NameShift {
  readonly #original: ReadonlyMap<string, Lanes>;
  readonly #renamed: ReadonlyMap<string, Lanes>;

  constructor(original: ReadonlyMap<string, Lanes>, renamed: ReadonlyMap<string, Lanes>) {
    this.#original = original;
    this.#renamed = renamed;
  }

  /** A component's digest, whoever gave it, under the new names. */
  of(component: string, digest: string): string {
    return hex(shift(lanes(digest), this.#original.get(component), this.#renamed.get(component)));
  }
}

const NONE: Lanes = [0, 0];

function shift([a, b]: Lanes, from: Lanes = NONE, to: Lanes = NONE): Lanes {
  return [(a + to[0] - from[0]) | 0, (b + to[1] - from[1]) | 0];
}

function lanes(digest: string): Lanes {
  return [Number.parseInt(digest.slice(0, 8), 16) | 0, Number.parseInt(digest.slice(8), 16) | 0];
}

function hex([a, b]: Lanes = NONE): string {
  return hexOf(a, b);
}
