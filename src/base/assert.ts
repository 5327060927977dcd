// Assertions for programmer errors. They stay on in every build.
import { InternalError } from "./errors.js";

/** Throws an `InternalError` naming the invariant when `condition` is false. @internal */
export function assert(condition: boolean, invariant: string): asserts condition {
  if (!condition) throw new InternalError(`broken invariant: ${invariant}`);
}
