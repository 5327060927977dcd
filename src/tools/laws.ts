// Laws that one implementation must keep by itself, judged from its answers alone: a refusal and a question change
// nothing.
import type { AdapterFailure } from "../adapter/adapter.js";
import type { Answer, Operation, OperationName } from "../base/operations.js";

/** Whether an operation only asks. @internal */
export function isQuestion(op: OperationName): boolean {
  return op.startsWith("ask.") || op === "admit.pass" || op === "check.idle";
}

/** Follows one run of one implementation. @internal */
export class LawChecker {
  #digests: Record<string, string> = Object.create(null) as Record<string, string>;
  #isFirst: boolean; // the next digest may list whatever there is

  /** `isBehindState`: the run goes on from a state, whose digests the first answer tells, a question's too. */
  constructor(isBehindState = false) {
    this.#isFirst = isBehindState;
  }

  /** The law that an answer breaks, null while all hold. */
  check(operation: Operation, answer: Answer): AdapterFailure | null {
    const isRefused = answer.err !== undefined;
    const isToldFirst = this.#isFirst;
    this.#isFirst = false;
    if (isToldFirst) Object.assign(this.#digests, answer.digest ?? {});
    if (isRefused || isQuestion(operation.op)) {
      const what = isRefused ? "a refusal" : "a question";
      const changed = this.#changedIn(answer);
      if (changed !== null) return broken(`${what} changed the state: component ${changed}`);
      if ((answer.fx?.length ?? 0) > 0) return broken(`${what} asked the device for something`);
    }
    if (answer.digest !== undefined) Object.assign(this.#digests, answer.digest);
    return null;
  }

  // A component may be listed with the value it had.
  #changedIn(answer: Answer): string | null {
    for (const [component, digest] of Object.entries(answer.digest ?? {})) {
      if (this.#digests[component] !== digest) return component;
    }
    return null;
  }
}

function broken(message: string): AdapterFailure {
  return { kind: "invariant", message };
}
