// The sink told at boot charges a state for each token of a page.
import type { BootOk } from "../../src/base/operations.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { patchMethod, undoAll } from "./patch.js";
import { watchOperations } from "./under-way.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "sink-of-many-states",
  about: "boot tells a sink of the page size times the state's unit, and first pages behind it",
  row: 2,
  where: "kv",
  plant: () => {
    let state = 0; // bytes of all states that such a sink would hold
    const underWay = watchOperations((operation, answer) => {
      const boot = answer.ok as BootOk | undefined; // of boot, looked at below
      if (operation.op !== "boot" || boot === undefined || state <= boot.sink_bytes) return answer;
      const bands = Object.entries(boot.bands).map(([name, band]) => {
        const first = Math.min(band.pages, Math.ceil(state / band.page_bytes));
        return [name, { ...band, first_page: first }] as const;
      });
      return { ...answer, ok: { ...boot, sink_bytes: state, bands: Object.fromEntries(bands) } };
    });
    return undoAll(
      underWay.undo,
      patchMethod(
        ChainAllocator.prototype,
        "endOperation",
        (original) =>
          function (this: ChainAllocator): void {
            state = (this.stateBand?.plan.unit_bytes ?? 0) * this.config.pageSize;
            original.call(this);
          },
      ),
    );
  },
};
