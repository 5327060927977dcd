// Whether every name a scenario uses is opened by an earlier operation. One that is not makes the scenario invalid: a
// typing error must not read as a pass.
import { nearestWord } from "../base/nearest.js";
import type { KvOperation } from "../base/operations.js";
import { namesOf } from "./spec-names.js";

/** The first operation that uses a name nothing opened before it, null where there is none. @internal */
export function firstUnopenedName(
  ops: readonly { readonly operation: KvOperation }[],
): { readonly index: number; readonly message: string } | null {
  const opened = new Set<string>();
  for (const [index, { operation }] of ops.entries()) {
    const uses = namesOf(operation);
    for (const use of uses) {
      if (use.role === "opens" || use.role === "asks" || opened.has(use.name)) continue;
      const nearest = nearestWord(use.name, opened);
      const hint = nearest === null ? "" : `; did you mean "${nearest}"?`;
      const message = `${operation.op}: no earlier operation opens the ${use.kind} "${use.name}"${hint}`;
      return { index, message };
    }
    for (const use of uses) if (use.role === "opens") opened.add(use.name);
  }
  return null;
}
