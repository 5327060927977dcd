// Changing the effects of an operation, all of them at its end or each as it is emitted.
import type { Effect } from "../../src/base/effects.js";
import { EffectScope } from "../../src/kv/alloc/signals.js";
import { patchMethod } from "./patch.js";

/** Changes the list of an operation's effects as it is handed over. */
export function changeEffects(change: (effects: Effect[]) => readonly Effect[]): () => void {
  return patchMethod(
    EffectScope.prototype,
    "take",
    (original) =>
      function (this: EffectScope): readonly Effect[] {
        return change([...original.call(this)]);
      },
  );
}

/** Leaves out the effects that `isDropped` tells. */
export function dropEffects(isDropped: (effect: Effect) => boolean): () => void {
  return changeEffects((effects) => effects.filter((effect) => !isDropped(effect)));
}
