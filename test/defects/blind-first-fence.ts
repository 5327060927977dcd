// The walk over fenced ranges ends at the first one that is met.
import { FenceList } from "../../src/kv/alloc/fences.js";
import type { Signal } from "../../src/kv/alloc/signals.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "blind-first-fence",
  about: "growth over several fenced ranges asks only for the users of the first of them",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      FenceList.prototype,
      "eachUser",
      (original) =>
        function (this: FenceList, from: number, to: number, visit: (user: Signal) => void): void {
          const first = this.list.find((fence) => fence.to > from && fence.from < to);
          original.call(this, from, first === undefined ? to : Math.min(to, first.to), visit);
        },
    ),
};
