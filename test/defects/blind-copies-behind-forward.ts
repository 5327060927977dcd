// "The copy stream waits the forward stream, so a wait for the forward covers the copies."
import { HazardSet, type Consumer } from "../../src/kv/alloc/clearance.js";
import type { Ledger } from "../../src/kv/alloc/ledger.js";
import type { EffectScope, Signal } from "../../src/kv/alloc/signals.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";

export const defect: Defect = {
  name: "blind-copies-behind-forward",
  about: "copies are not waited where the same operation already waits a forward",
  row: null,
  where: "kv",
  plant: () => {
    const withForward = new WeakSet<HazardSet>();
    return undoAll(
      patchMethod(
        HazardSet.prototype,
        "add",
        (original) =>
          function (this: HazardSet, consumer: Consumer, signal: Signal): void {
            if (signal.kind === "forward" && !signal.retired) withForward.add(this);
            original.call(this, consumer, signal);
          },
      ),
      patchMethod(
        HazardSet.prototype,
        "settle",
        (original) =>
          function (this: HazardSet, ...args: Parameters<HazardSet["settle"]>): void {
            if (args[0]?.retired === false) withForward.add(this);
            original.apply(this, args);
          },
      ),
      patchMethod(
        HazardSet.prototype,
        "clear",
        (original) =>
          function (this: HazardSet, scope: EffectScope, ledger: Ledger): void {
            if (!withForward.has(this)) {
              original.call(this, scope, ledger);
              return;
            }
            const undo = patchMethod(ledger, "waitCopy", () => () => undefined);
            original.call(this, scope, ledger);
            undo();
          },
      ),
    );
  },
};
