// A page that a move left becomes a hole again as soon as any of its readers is over.
import { Band } from "../../src/kv/alloc/band.js";
import { isOver } from "../../src/kv/alloc/signals.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "vacated-page-reused-early",
  about: "a vacated page is handed out while another of its readers still reads it",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      Band.prototype,
      "releaseVacated",
      (original) =>
        function (this: Band): void {
          const ready = this.dropVacated(
            ({ readers }) => !readers.some((reader) => isOver(reader)),
          );
          for (const { page } of ready) this.addHole(page);
          original.call(this);
        },
    ),
};
