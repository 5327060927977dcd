// Pending pages go back when the event of their forward is seen, not when it is processed.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "released-when-event-fires",
  about:
    "an event that one rank sees early releases the pages that wait for the forward's processing",
  row: 32,
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
            const { operation } = underWay;
            if (operation?.op === "event.fire") {
              const step = this.steps.unprocessed.find(({ name }) => name === operation.args.event);
              if (step !== undefined)
                for (const band of this.bands) band.releasePendingThrough(step.launch);
            }
            original.call(this);
          },
      ),
    );
  },
};
