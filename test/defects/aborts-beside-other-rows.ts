// Rows of others are not looked at before a request is aborted.
import { PrefillBudget } from "../../src/kv/admission/prefill-budget.js";
import type { AdmitVerdict, QueueEntry } from "../../src/base/operations.js";
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchGetter, patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "aborts-beside-other-rows",
  about: "admission aborts a request as unschedulable while another open request will free memory",
  row: 45,
  where: "kv",
  plant: () => {
    let isJudging = false;
    const none: ReadonlyMap<string, Request> = new Map();
    return undoAll(
      patchMethod(
        PrefillBudget.prototype,
        "pass",
        (original) =>
          function (
            this: PrefillBudget,
            queue: readonly QueueEntry[],
          ): Record<string, AdmitVerdict> {
            isJudging = true;
            try {
              return original.call(this, queue);
            } finally {
              isJudging = false;
            }
          },
      ),
      patchGetter(
        RequestTable.prototype,
        "open",
        (original) =>
          function (this: RequestTable) {
            return isJudging ? none : original.call(this);
          },
      ),
    );
  },
};
