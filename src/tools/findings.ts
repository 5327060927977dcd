// What went wrong, as data: the same words for every tool that finds something by itself.
import type { OperationName } from "../base/operations.js";

/** What went wrong, without the words of a message: two findings with one signature are the same failure. @public */
export interface Signature {
  readonly check: string; // a stress check, a divergence kind, an audit rule, "expectation"
  readonly op: OperationName;
  readonly component: string | null;
}

/** @public */
export interface Finding {
  readonly signature: Signature;
  readonly n: number; // operation
  readonly message: string;
  readonly actors?: readonly string[];
  readonly bytes?: readonly [number, number];
  readonly band?: string;
}

/** Whether two findings are the same failure. @public */
export function isSameFailure(left: Signature, right: Signature): boolean {
  return left.check === right.check && left.op === right.op && left.component === right.component;
}
