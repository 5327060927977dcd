// A receive is over when one of its writers fails, as a send is.
import { type Transfer, Transfers } from "../../src/kv/transfer/transfers.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "receive-over-at-first-failure",
  about:
    "the pages of a receive go back at the first failed writer, though others still write them",
  row: 37,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        Transfers.prototype,
        "endWriter",
        (original) =>
          function (this: Transfers, transfer: Transfer, writer: string): void {
            original.call(this, transfer, writer);
            const { operation } = underWay;
            if (operation?.op !== "net.end" || operation.args.outcome !== "failed") return;
            if (transfer.direction === "receive") transfer.writers.clear();
          },
      ),
    );
  },
};
