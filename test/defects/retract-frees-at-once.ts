// Pages of a retracted request are reused at once: nobody waits for its tokens any more.
import { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "retract-frees-at-once",
  about:
    "pages of a retracted request do not wait for the running forward, which still writes the request's next slot",
  row: 35,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        Band.prototype,
        "free",
        (original) =>
          function (this: Band, virtual: number, forward: ForwardStep | null): number {
            const isRetract = underWay.operation?.op === "request.retract";
            return original.call(this, virtual, isRetract ? null : forward);
          },
      ),
    );
  },
};
