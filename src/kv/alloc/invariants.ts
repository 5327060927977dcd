// Checks of the allocator on itself that follow the run's level: 0 off, 1 told once an operation, 2 fatal. Everything
// that the caller may break is checked at every level instead, and answered as `invalid`.
import { InternalError } from "../../base/errors.js";

/** @internal */
export type InternalCheck =
  "band.host_read_before_wait" | "band.geometry_ready" | "request.lengths";

/** The internal checks of one run. @internal */
export class Invariants {
  readonly level: 0 | 1 | 2;
  readonly #told: string[] = [];

  constructor(level: 0 | 1 | 2) {
    this.level = level;
  }

  /** Tells, or at level 2 throws an `InternalError`, where a check does not hold. */
  check(holds: boolean, name: InternalCheck, detail: string): void {
    if (holds || this.level === 0) return;
    const message = `broken invariant: ${name}: ${detail}`;
    if (this.level === 2) throw new InternalError(message);
    this.#told.push(message);
  }

  /** What was told in the operation under way, null for nothing; starts anew. */
  takeTold(): string | null {
    return this.#told.length === 0 ? null : this.#told.splice(0).join("; ");
  }
}
