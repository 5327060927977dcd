// "A run of no pages has nothing to zero": descending runs have negative counts.
import type { Effect } from "../../src/base/effects.js";
import { EffectScope } from "../../src/kv/alloc/signals.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "blind-zero-forward-runs",
  about: "pages handed out in descending order are not zeroed",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      EffectScope.prototype,
      "emit",
      (original) =>
        function (this: EffectScope, effect: Effect): void {
          if (effect[0] !== "zero") {
            original.call(this, effect);
            return;
          }
          const runs = effect[2].filter(([, count]) => count > 0);
          if (runs.length > 0) original.call(this, ["zero", effect[1], runs]);
        },
    ),
};
