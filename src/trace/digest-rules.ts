// Where the digests of a run must stand, and where they must not. After operation 0 a line lists only what changed, so
// that nobody can tell what a later line lacks.
import { FIXED_COMPONENTS } from "../base/operations.js";
import { hasKeys } from "./has-keys.js";
import type { EndLine, OpLine, RunLine } from "./lines.js";
import type { Problem } from "./problem.js";
import type { RunWords } from "./run-words.js";

/**
 * The components that the digest of operation 0 in domain `kv` does not list, in their order: the bands, then the fixed
 * ones. @internal
 */
export function missingComponents(bands: Iterable<string>, digest: unknown): string[] {
  const listed = new Set(keysOf(digest));
  return [...bands, ...FIXED_COMPONENTS].filter((name) => !listed.has(name));
}

/** The bands that the answer of `boot` tells of, in its order. @internal */
export function bandsOf(boot: { readonly bands?: unknown }): string[] {
  return keysOf(boot.bands).filter((name) => !name.startsWith("x_"));
}

/** Follows the digests of one run. @internal */
export class RunDigests {
  readonly #words: RunWords | null;
  readonly #why: string; // why the run has no digests, for messages
  // Whether the run has digests. Operation 0 tells: it lists all of them or none. Null where it has not told, or never
  // will: a refused boot leaves nothing to take a digest of, and a run may begin after it.
  #hasDigests: boolean | null;

  constructor(line: RunLine, words: RunWords | null) {
    this.#words = words;
    const isWithout = (line.digest_depth ?? null) === null;
    this.#hasDigests = isWithout ? false : null;
    this.#why = isWithout
      ? `the "digest_depth" of run ${line.run} is null or absent`
      : `operation 0 of run ${line.run} has none`;
  }

  /** False: any digest is wrong. */
  get mayFollow(): boolean {
    return this.#hasDigests !== false;
  }

  /** What is wrong with the digest of an `op` line, or null. */
  acceptOperation(line: OpLine): Problem | null {
    const { digest } = line;
    // an empty one is the same as none
    const isGiven = digest !== undefined && hasKeys(digest);
    if (this.#hasDigests === false) return isGiven ? this.#stray() : null;
    if (line.op === "boot" && line.ok !== undefined) {
      this.#hasDigests = isGiven;
      return isGiven ? this.#first(line.ok, digest) : null;
    }
    if (isGiven) this.#hasDigests = true;
    return null;
  }

  /** What is wrong with the digest of the `end` line, or null. */
  acceptEnd(line: EndLine): Problem | null {
    const isGiven = (line.digest ?? null) !== null;
    if (isGiven) return this.#hasDigests === false ? this.#stray() : null;
    if (this.#hasDigests !== true) return null;
    const expected = "the digest of the run's end";
    const message = `missing, though run ${line.run} has digests: expected ${expected}`;
    return { path: "/digest", message, expected };
  }

  #first(boot: { readonly bands?: unknown }, digest: unknown): Problem | null {
    // a model form may not tell its bands
    const missing = missingComponents(this.#words?.bands ?? bandsOf(boot), digest);
    if (missing.length === 0) return null;
    const expected = "a digest of every component";
    const message = `operation 0 lists no digest of ${missing.join(", ")}: expected ${expected}`;
    return { path: "/digest", message, expected };
  }

  #stray(): Problem {
    const expected = "no digest";
    return { path: "/digest", message: `a digest, though ${this.#why}`, expected };
  }
}

function keysOf(value: unknown): string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
