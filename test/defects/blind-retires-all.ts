// The loop over forwards to retire lacks its end.
import { type ForwardStep, ForwardSteps } from "../../src/kv/alloc/forward-steps.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "blind-retires-all",
  about: "waiting or processing one forward retires those launched after it as well",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      ForwardSteps.prototype,
      "retireThrough",
      (original) =>
        function (this: ForwardSteps, step: ForwardStep): void {
          if (step.retired) return;
          original.call(this, this.newestUnretired ?? step);
        },
    ),
};
