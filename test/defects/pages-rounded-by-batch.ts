// Pages of an admission pass are rounded up once for all its requests.
import { PrefillBudget } from "../../src/kv/admission/prefill-budget.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import type { AdmitVerdict, QueueEntry } from "../../src/base/operations.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "pages-rounded-by-batch",
  about:
    "each request that a pass has admitted before makes the next one a page cheaper, as if partial pages were shared",
  row: 42,
  where: "kv",
  plant: () => {
    let granted: number | null = null;
    return undoAll(
      patchMethod(
        PrefillBudget.prototype,
        "pass",
        (original) =>
          function (
            this: PrefillBudget,
            queue: readonly QueueEntry[],
          ): Record<string, AdmitVerdict> {
            granted = 0;
            try {
              return original.call(this, queue);
            } finally {
              granted = null;
            }
          },
      ),
      patchMethod(
        ChainAllocator.prototype,
        "fitsReclaimed",
        (original) =>
          function (
            this: ChainAllocator,
            demand: readonly number[],
            credit: readonly number[],
          ): boolean {
            if (granted === null) return original.call(this, demand, credit);
            const spared = granted;
            const less = demand.map((pages) => Math.max(Math.min(pages, 1), pages - spared));
            const fits = original.call(this, less, credit);
            if (fits) granted += 1;
            return fits;
          },
      ),
    );
  },
};
