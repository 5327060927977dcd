// Bytes that leave a band are fenced for forwards and transfers only.
import { FenceList } from "../../src/kv/alloc/fences.js";
import type { Signal } from "../../src/kv/alloc/signals.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "copy-leaves-no-fence",
  about: "bytes that a host copy still uses are not fenced when their page leaves the band",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      FenceList.prototype,
      "add",
      (original) =>
        function (this: FenceList, from: number, to: number, readers: readonly Signal[]): void {
          const kept = readers.filter(({ kind }) => kind !== "copy");
          if (kept.length > 0) original.call(this, from, to, kept);
        },
    ),
};
