// "A row that no forward has seen since it was marked is as clean as before": its mark goes when it is closed.
import { type Request, RequestTable } from "../../src/kv/requests.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";

export const defect: Defect = {
  name: "blind-mark-of-unused-row",
  about:
    "a row closed before its reset ran loses the mark, and its next holder is not marked either: it starts with what an earlier holder left",
  row: null,
  where: "kv",
  plant: () => {
    const clean = new WeakMap<RequestTable, Set<number>>();
    return undoAll(
      patchMethod(
        RequestTable.prototype,
        "close",
        (original) =>
          function (this: RequestTable, request: Request): void {
            if (request.reset) {
              this.clearMark(request);
              let rows = clean.get(this);
              if (rows === undefined) clean.set(this, (rows = new Set()));
              rows.add(request.row);
            }
            original.call(this, request);
          },
      ),
      patchMethod(
        RequestTable.prototype,
        "add",
        (original) =>
          function (this: RequestTable, name: string, bands: number): Request {
            const request = original.call(this, name, bands);
            if (clean.get(this)?.delete(request.row) === true) this.clearMark(request);
            return request;
          },
      ),
    );
  },
};
