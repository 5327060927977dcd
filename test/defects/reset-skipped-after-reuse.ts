// A row that was closed before its reset ran and handed out again is not reset a second time.
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "reset-skipped-after-reuse",
  about:
    "a row that is handed out a second time is not marked for a reset: its new request starts with what the old one left",
  row: 38,
  where: "kv",
  plant: () => {
    const used = new WeakMap<RequestTable, Set<number>>();
    return patchMethod(
      RequestTable.prototype,
      "add",
      (original) =>
        function (this: RequestTable, name: string, bands: number): Request {
          const request = original.call(this, name, bands);
          let rows = used.get(this);
          if (rows === undefined) used.set(this, (rows = new Set()));
          if (rows.has(request.row)) this.clearMark(request);
          rows.add(request.row);
          return request;
        },
    );
  },
};
