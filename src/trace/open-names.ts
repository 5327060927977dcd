// Which names of a run are open, and the last 65,536 closed ones.
import type { Operation } from "../base/operations.js";

/** @public */
export interface NameProblem {
  readonly kind: "dangling" | "reused"; // used before opened; opened though open or used up
  readonly name: string;
  readonly what: string; // request, forward, copy, load, transfer or writer
}

/** Follows the names of one run. @public */
export class OpenNames {
  /** Checks an operation's names against those before it; null when all is well. Changes nothing. */
  check(_operation: Operation): NameProblem | null {
    return null;
  }
  /** Takes note of an operation; `granted` is whether its answer was `ok`. */
  note(_operation: Operation, _granted: boolean): void {}
}
