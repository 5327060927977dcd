// One rank has seen the transfer's end and does not wait for it.
import { Ledger } from "../../src/kv/alloc/ledger.js";
import type { NetworkTransfer } from "../../src/kv/alloc/signals.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "host-wait-on-one-rank",
  about:
    "a host wait for a transfer is entered on one rank only, and the other stands in it for ever",
  row: 53,
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
            if (underWay.rank !== 0) {
              original.call(this, transfer);
              return;
            }
            this.endTransfer(transfer);
            this.ended.push(transfer);
          },
      ),
    );
  },
};
