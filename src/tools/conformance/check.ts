// What a check is and what it may say.
import type { Stage } from "./subject.js";

/** A check that has passed, or why it looked at nothing. @internal */
export type CheckOutcome = { readonly note: string | null } | { readonly skipped: string };

/** One check of one domain. It throws a `Fault` when it fails. @internal */
export interface Check {
  readonly name: string;
  readonly run: (stage: Stage) => Promise<CheckOutcome>;
}

/** @internal */
export const PASSED: CheckOutcome = { note: null };
