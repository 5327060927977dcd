// A run written anew, and by which rule its answers are held against those of the run as it was.
import type { Answer, KvOperation } from "../../base/operations.js";
import type { Prng } from "../../base/prng.js";

/** One operation of a rewritten run. @internal */
export interface RewrittenStep {
  readonly operation: KvOperation;
  readonly origin: number | null; // operation of the run as it was; null: put in
  readonly part: "whole" | "part" | "again"; // of its origin; parts are joined before they are compared
}

/**
 * `exact`: answers, effects and state digests. `answers`: answers and effects. `placement`: grants, refusals, counts and
 * questions, wherever pages lie; `virtual ids`: those as well, and the owner's ids in order. @internal
 */
export type Rule = "exact" | "answers" | "placement" | "virtual ids";

/** @internal */
export interface Rewritten {
  readonly steps: readonly RewrittenStep[];
  readonly rule: Rule;
  /** The words of the run as it was, by those of the rewritten one. */
  readonly words?: ReadonlyMap<unknown, unknown>;
}

/** A run and what one implementation answered. @internal */
export interface AnsweredRun {
  readonly ops: readonly KvOperation[];
  readonly answers: readonly Answer[];
}

/** Writes a run anew; null where there is nothing to rewrite. @internal */
export type Rewrite = (run: AnsweredRun, prng: Prng) => Rewritten | null;

/** The operations as they are. @internal */
export function unchanged(operation: KvOperation, origin: number): RewrittenStep {
  return { operation, origin, part: "whole" };
}
