// A window page that an open group freed counts as bound.
import { Band } from "../../src/kv/alloc/band.js";
import { KvCore } from "../../src/kv/core.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "group-frees-window-twice",
  about: "a window page that was freed earlier in the same group is freed again at the row's end",
  row: 13,
  where: "kv",
  plant: () =>
    patchMethod(
      KvCore.prototype,
      "isWindowBound",
      (original) =>
        function (this: KvCore, band: Band, virtual: number): boolean {
          const { group } = this;
          this.group = null;
          const isBound = original.call(this, band, virtual);
          this.group = group;
          return isBound;
        },
    ),
};
