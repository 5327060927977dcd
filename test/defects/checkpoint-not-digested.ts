// The position of a checkpoint is set past the digest.
import { type Request, RequestTable } from "../../src/kv/requests.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "checkpoint-not-digested",
  about: "the digest of the rows does not change with a checkpoint",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      RequestTable.prototype,
      "setCheckpoint",
      () =>
        function (this: RequestTable, request: Request, tokens: number | null): void {
          request.checkpoint = tokens;
        },
    ),
};
