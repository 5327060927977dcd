// A row's state is reset when the row is handed out.
import { toExtents } from "../../src/base/extents.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "reset-at-hand-out",
  about:
    "the reset of a row stands at its hand-out, on the schedule stream, beside a forward that still runs on the row",
  row: 38,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    let given: { readonly table: RequestTable; readonly request: Request }[] = [];
    return undoAll(
      underWay.undo,
      patchMethod(
        RequestTable.prototype,
        "add",
        (original) =>
          function (this: RequestTable, name: string, bands: number): Request {
            const request = original.call(this, name, bands);
            if (underWay.operation?.op === "row.alloc") given.push({ table: this, request });
            return request;
          },
      ),
      patchMethod(
        ChainAllocator.prototype,
        "endOperation",
        (original) =>
          function (this: ChainAllocator): void {
            if (given.length > 0)
              this.scope.emit(["reset", toExtents(given.map(({ request }) => request.row))]);
            for (const { table, request } of given) table.clearMark(request);
            given = [];
            original.call(this);
          },
      ),
    );
  },
};
