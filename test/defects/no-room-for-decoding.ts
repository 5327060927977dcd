// The last chunk of a prompt is admitted without its output.
import { PrefillBudget } from "../../src/kv/admission/prefill-budget.js";
import type { AdmitVerdict, QueueEntry } from "../../src/base/operations.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "no-room-for-decoding",
  about: "admission does not charge the expected output, so that an admitted request cannot decode",
  row: 46,
  where: "kv",
  plant: () =>
    patchMethod(
      PrefillBudget.prototype,
      "pass",
      (original) =>
        function (this: PrefillBudget, queue: readonly QueueEntry[]): Record<string, AdmitVerdict> {
          return original.call(
            this,
            queue.map((entry) => ({ ...entry, max_new: 0 })),
          );
        },
    ),
};
