// The cursor of a window stands one token further than its last freed page.
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "cursor-inside-a-page",
  about:
    "after a retirement the window's cursor is not on a page, so that the next one skips a page",
  row: 48,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        RequestTable.prototype,
        "setCursor",
        (original) =>
          function (this: RequestTable, request: Request, band: number, tokens: number): void {
            const isMoved =
              underWay.operation?.op === "window.retire" && request.cursors[band] !== tokens;
            original.call(this, request, band, isMoved ? tokens + 1 : tokens);
          },
      ),
    );
  },
};
