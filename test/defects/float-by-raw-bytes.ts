// The room of a float is the bytes between its neighbours over its page bytes.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { planNoMove } from "../../src/kv/alloc/pricing.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "float-by-raw-bytes",
  about: "a float whose low neighbour ends off its grid is granted one page too many",
  row: 1,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "price",
      (original) =>
        function (this: ChainAllocator, demand: readonly number[], kind = "take") {
          const priced = original.call(this, demand, kind);
          if ("step" in priced || priced.limit !== "bytes" || this.stages !== null) return priced;
          const bands = this.snapshot().map((band) => ({ ...band }));
          for (let index = 1; index + 1 < bands.length; index++) {
            const below = bands[index - 1]!; // both in range
            const { pageBytes } = bands[index]!;
            const end = (below.spanFirst + below.spanCount) * below.pageBytes;
            below.spanCount -= (end % pageBytes) / below.pageBytes;
          }
          const plan = planNoMove(bands, demand);
          if (plan === null) return priced;
          const spans = plan.spans.map(([first, count]) => [first, Math.ceil(count)] as const);
          return { step: plan.step, spans, inPlace: true };
        },
    ),
};
