// Operations whose preconditions hold in the model, by kind. A builder answers null where the run has nothing to use it
// on.
import type { KvOperation, KvOperationName } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import { FORWARD_BUILDERS } from "./seeded-forwards.js";
import { HOST_BUILDERS } from "./seeded-host.js";
import { NET_BUILDERS } from "./seeded-net.js";
import { QUESTION_BUILDERS } from "./seeded-questions.js";
import { REQUEST_BUILDERS } from "./seeded-requests.js";
import { STATE_BUILDERS } from "./seeded-states.js";
import { TOKEN_BUILDERS } from "./seeded-tokens.js";
import { TREE_BUILDERS } from "./seeded-tree.js";

const BUILDERS: Builders = {
  ...REQUEST_BUILDERS,
  ...STATE_BUILDERS,
  ...TOKEN_BUILDERS,
  ...FORWARD_BUILDERS,
  ...TREE_BUILDERS,
  ...HOST_BUILDERS,
  ...NET_BUILDERS,
  ...QUESTION_BUILDERS,
};

/** What may stand between a launch and its recording: it neither takes nor frees. @internal */
export const FREE_OF_OPEN_FORWARD: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "row.alloc",
  "row.free",
  "event.fire",
  "forward.record",
  "ask.plan",
  "ask.fits",
  "ask.fits_after_frees",
  "ask.prealloc",
  "ask.max_new_tokens",
  "ask.translate",
  "ask.estimates",
  "admit.pass",
]);

/** A legal operation of that kind, null where the run has nothing for it. @internal */
export function legalOperation(kind: KvOperationName, draws: SeededDraws): KvOperation | null {
  return BUILDERS[kind]?.(draws) ?? null;
}
