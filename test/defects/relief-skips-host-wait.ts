// Relief moves what a transfer uses and leaves the waiting to the transfer's end.
import { Ledger } from "../../src/kv/alloc/ledger.js";
import type { NetworkTransfer } from "../../src/kv/alloc/signals.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";

export const defect: Defect = {
  name: "relief-skips-host-wait",
  about:
    "the second attempt of relief moves and zeroes pages of open transfers without a host wait",
  row: 39,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        Ledger.prototype,
        "hostWait",
        (original) =>
          function (this: Ledger, transfer: NetworkTransfer): void {
            if (underWay.operation?.op === "forward.launch") original.call(this, transfer);
          },
      ),
    );
  },
};
