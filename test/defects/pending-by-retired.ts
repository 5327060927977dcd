// After a settle, freed pages no longer pend under the forward that was waited for.
import { ForwardSteps } from "../../src/kv/alloc/forward-steps.js";
import { patchGetter } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "pending-by-retired",
  about:
    "retired is taken for processed: pages freed after a wait become holes though their forward is unprocessed",
  row: 31,
  where: "kv",
  plant: () =>
    patchGetter(
      ForwardSteps.prototype,
      "newestUnprocessed",
      () =>
        function (this: ForwardSteps) {
          return this.newestUnretired;
        },
    ),
};
