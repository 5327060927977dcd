// Whether an implementation that is given the same operations again, from the beginning, answers and ends as before.
import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { AdapterFailure } from "../adapter/adapter.js";
import { canonicalJson } from "../base/canonical-json.js";
import type { Answer } from "../base/operations.js";

interface Outcome {
  readonly answers: string; // hash of all answers
  readonly digest: string | null; // folded at the end of the run, null where there are none
}

/** Holds every pass against the first one; keeps one outcome a run. @internal */
export class RepeatJudge {
  readonly #first = new Map<string, Outcome>();
  #pass = 0;
  #answers: Hash = createHash("sha256");

  /** @param pass - from 1 */
  begin(pass: number): void {
    this.#pass = pass;
    this.#answers = createHash("sha256");
  }

  note({ ok, err, fx }: Answer): void {
    // a message is for people, and may say the same in other words
    const refusal = err === undefined ? err : { ...err, message: undefined };
    this.#answers.update(canonicalJson({ ok, err: refusal, fx })).update("\n");
  }

  /** The end of a run: null, or in what it differs from the first pass. */
  end(run: string, digest: string | null): AdapterFailure | null {
    const outcome = { answers: this.#answers.digest("hex"), digest };
    this.#answers = createHash("sha256");
    const first = this.#first.get(run);
    if (first === undefined) {
      this.#first.set(run, outcome);
      return null;
    }
    const isSameEnd = first.digest === digest;
    if (isSameEnd && first.answers === outcome.answers) return null;
    const what = isSameEnd
      ? "gave other answers than pass 1, with the same digest at the end"
      : `ended with digest ${digest ?? "none"}, pass 1 with ${first.digest ?? "none"}`;
    const where = "compare --double names the first operation";
    return { kind: "invariant", message: `pass ${this.#pass} ${what} (${where})` };
  }
}
