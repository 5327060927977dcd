// The first page of a free is the one that its first token lies in.
import { KvCore } from "../../src/kv/core.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "free-of-open-page",
  about: "a free that begins inside a page takes the whole page, with tokens that are not freed",
  row: 12,
  where: "kv",
  plant: () => {
    const underWay = watchOperations();
    return undoAll(
      underWay.undo,
      patchMethod(
        KvCore.prototype,
        "pagesOf",
        (original) =>
          function (this: KvCore, tokens: number): number {
            const { operation } = underWay;
            const isFirst = operation?.op === "tokens.free" && operation.args.from === tokens;
            return isFirst
              ? Math.floor(tokens / this.config.pageSize)
              : original.call(this, tokens);
          },
      ),
    );
  },
};
