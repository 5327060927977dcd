// An empty float is placed in the middle of its region as it stands.
import { ChainAllocator, type PricedPlan } from "../../src/kv/alloc/chain.js";
import type { Consumer } from "../../src/kv/alloc/clearance.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "float-in-the-middle",
  about:
    "a take places an empty float without regard to the space that a later band of the same take needs",
  row: 25,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "take",
      (original) =>
        function (
          this: ChainAllocator,
          demand: readonly number[],
          plan: PricedPlan,
          consumer?: Consumer,
        ) {
          const bands = this.snapshot();
          const spans = plan.spans.map((span, index) => {
            const band = bands[index]!; // one a band
            const wanted = demand[index]!;
            const below = bands[index - 1];
            const above = bands[index + 1];
            if (band.grow !== "float" || band.spanCount > 0 || wanted === 0) return span;
            if (below === undefined || above === undefined) return span;
            const floor = (below.spanFirst + below.spanCount) * below.pageBytes;
            const low = Math.max(Math.ceil(floor / band.pageBytes), band.firstPage);
            const high = Math.floor((above.spanFirst * above.pageBytes) / band.pageBytes);
            if (above.spanCount === 0 && above.grow === "float") return span;
            return [low + Math.max(0, (high - low - wanted) >> 1), wanted] as const;
          });
          return original.call(this, demand, { ...plan, spans }, consumer);
        },
    ),
};
