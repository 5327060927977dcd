// Publishing one transfer notes the move epoch for all that are held.
import type { NetworkTransfer } from "../../src/kv/alloc/signals.js";
import { type Transfer, Transfers } from "../../src/kv/transfer/transfers.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

const EPOCH_FIELD = 19; // of the digest of transfers

export const defect: Defect = {
  name: "blind-epoch-of-all-held",
  about:
    "publishing one transfer makes the others that are held look freshly read, so that a deferred publication skips its readback after a move",
  row: 36,
  where: "kv",
  plant: () =>
    patchMethod(
      Transfers.prototype,
      "publish",
      (original) =>
        function (this: Transfers, transfer: Transfer, use: NetworkTransfer, epoch: number): void {
          original.call(this, transfer, use, epoch);
          for (const other of this.held) {
            if (other.epoch === epoch) continue;
            this.cells.remove(EPOCH_FIELD, other.serial, other.epoch);
            other.epoch = epoch;
            this.cells.add(EPOCH_FIELD, other.serial, epoch);
          }
        },
    ),
};
