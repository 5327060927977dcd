// A window is retired by its length alone.
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "retired-past-the-floor",
  about: "window.retire frees rows behind the latest checkpoint that a later match needs",
  row: 47,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        RequestTable.prototype,
        "find",
        (original) =>
          function (this: RequestTable, name: string): Request | undefined {
            const request = original.call(this, name);
            const { operation } = underWay;
            if (request === undefined || operation?.op !== "window.retire") return request;
            const { len } = operation.args;
            return Object.assign(Object.create(request) as Request, { checkpoint: len });
          },
      ),
    );
  },
};
