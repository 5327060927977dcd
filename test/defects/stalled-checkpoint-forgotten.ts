// A donation that gets no slot in exchange drops what was tracked.
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "stalled-checkpoint-forgotten",
  about: "a stalled checkpoint loses the tracked state, though a refusal changes nothing",
  row: 49,
  where: "kv",
  plant: () => {
    let asked: { readonly table: RequestTable; readonly request: Request } | null = null;
    const underWay = watchOperations((operation, answer) => {
      if (operation.op === "state.donate" && answer.err?.code === "checkpoint_stalled")
        for (const index of asked?.request.tracked.keys() ?? [])
          asked?.table.setTracked(asked.request, index, null);
      return answer;
    });
    return undoAll(
      underWay.undo,
      patchMethod(
        RequestTable.prototype,
        "find",
        (original) =>
          function (this: RequestTable, name: string): Request | undefined {
            const request = original.call(this, name);
            if (request !== undefined) asked = { table: this, request };
            return request;
          },
      ),
    );
  },
};
