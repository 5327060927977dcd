// Freed pages pend under the newest step, even one without a forward.
import { ForwardSteps } from "../../src/kv/alloc/forward-steps.js";
import { patchGetter } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "prebuilt-step-is-a-key",
  about: "pages freed behind a prebuilt step wait for that step, which has no event",
  row: 34,
  where: "kv",
  plant: () =>
    patchGetter(
      ForwardSteps.prototype,
      "newestUnprocessed",
      (original) =>
        function (this: ForwardSteps) {
          const newest = original.call(this);
          const prebuilt = this.unrecorded.findLast(({ mode }) => mode === "prebuilt");
          if (newest === null || prebuilt === undefined) return newest;
          return prebuilt.launch > newest.launch ? prebuilt : newest;
        },
    ),
};
