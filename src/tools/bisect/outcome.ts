// What a bisection found, as data.
import type { CommitInfo } from "../../adapter/checkout-history.js";
import type { DivergenceKind, FieldDifference } from "../outcome.js";

/** `found`: one place; `several`: what lies between could not be judged; `incomplete`: the time was over. @public */
export type BisectVerdict = "found" | "several" | "incomplete";

/** The first difference of a commit. @public */
export interface CommitDivergence {
  readonly run: string;
  readonly n: number;
  readonly op: string;
  readonly place: "at" | "after" | "before";
  readonly kind: DivergenceKind;
  readonly component: string | null;
}

/** A commit that was tested. @public */
export interface TestedCommit extends CommitInfo {
  readonly outcome: "equal" | "divergent" | "skipped";
  readonly reason: string | null; // why it was skipped
  readonly divergence: CommitDivergence | null;
  readonly operations: number; // compared
}

/** @public */
export interface CommitBisection {
  readonly over: "commits";
  readonly verdict: BisectVerdict;
  readonly good: TestedCommit;
  readonly bad: TestedCommit;
  readonly first: TestedCommit; // the earliest that is known to diverge: the first one where the verdict is `found`
  readonly candidates: readonly CommitInfo[]; // every commit that may be the first one
  readonly tested: readonly TestedCommit[]; // in order, the two ends first
  readonly runs: number; // compared, each as often as it was
  readonly operations: number;
}

/** A value or a length that was tried. @public */
export interface TestedPoint {
  readonly value: number;
  readonly outcome: "equal" | "different" | "skipped";
}

/** @public */
export interface OperationBisection {
  readonly over: "operations";
  readonly verdict: BisectVerdict;
  readonly by: "state" | "digest" | "check";
  readonly run: string;
  readonly n: number; // the first operation after which it differs
  readonly op: string;
  readonly args: unknown;
  readonly agreed: number; // operations after which it is known not to differ
  readonly fields: readonly FieldDifference[]; // of the two states
  readonly failure: string | null; // how the candidate broke instead
  readonly answers: { readonly n: number; readonly op: string } | null; // where answers first differ; null: nowhere
  readonly tested: readonly TestedPoint[]; // value: operations
  readonly runs: number; // replayed, on either side
  readonly operations: number;
}

/** What became of an operation. @public */
export interface KeyAnswer {
  readonly outcome: string; // granted, a refusal's code, how it broke
  readonly answer: unknown; // null where there is none
}

/** @public */
export interface KeyBisection {
  readonly over: "key";
  readonly verdict: BisectVerdict;
  readonly key: string;
  readonly by: "refusals" | "answers";
  readonly good: number;
  readonly bad: number;
  readonly last: number; // the last value that still gives the outcome of `good`
  readonly first: number; // the first one that does not
  readonly run: string; // where it shows, at `first`
  readonly n: number;
  readonly op: string;
  readonly args: unknown;
  readonly base: KeyAnswer; // at `good`
  readonly changed: KeyAnswer; // at `first`
  readonly tested: readonly TestedPoint[];
  readonly runs: number; // replayed
  readonly operations: number;
}

/** @public */
export type Bisection = CommitBisection | OperationBisection | KeyBisection;
