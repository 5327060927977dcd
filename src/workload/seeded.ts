// The seeded workload: a seed becomes operations whose preconditions hold, except for a small share that breaks a
// contract on purpose.
import { InternalError } from "../base/errors.js";
import type { InvalidRule } from "../base/operations.js";
import type { Layout } from "./layouts.js";
import type { Workload } from "./workload.js";

/** @public */
export interface SeededOptions {
  readonly seed: number; // integer in [0, 2^53)
  readonly ops: number; // operations in all, boot included; at least 1
  readonly layout: Layout;
  readonly pageSize: number; // tokens
  readonly weights?: string; // a name of WEIGHT_NAMES, default "default"
}

/** @public */
export interface SeededWorkload extends Workload {
  /** The rule that the operation yielded last breaks on purpose, null where it is legal. */
  readonly brokenRule: InvalidRule | null;
}

/** Names of the weight profiles. @public */
export const WEIGHT_NAMES: readonly string[] = ["default"];

/** Run id `LAYOUT/pPS/seed-N`. The same options against the same answers give the same operations. @public */
export function seededWorkload(options: SeededOptions): SeededWorkload {
  throw new InternalError(`seededWorkload is not there yet (${options.layout})`);
}
