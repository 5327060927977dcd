// A rank that saw an event takes the forward for retired.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "event-decides-on-its-rank",
  about: "what a flush may move depends on the events that a rank has seen, so that ranks part",
  row: 28,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        ChainAllocator.prototype,
        "endOperation",
        (original) =>
          function (this: ChainAllocator): void {
            const { operation, rank } = underWay;
            if (operation?.op === "event.fire" && operation.args.rank === rank) {
              const step = this.steps.unprocessed.find(({ name }) => name === operation.args.event);
              if (step !== undefined) this.steps.retireThrough(step);
            }
            original.call(this);
          },
      ),
    );
  },
};
