// A stage answers for its own bands as they lie, not as live counts say.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { StageCapacity } from "../../src/kv/alloc/stage-capacity.js";
import { patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "stage-by-real-frontiers",
  about:
    "with stages a demand is refused for the holes of the own stage, of which the others know nothing",
  row: 52,
  where: "kv",
  plant: () => {
    let spans: readonly number[] = [];
    return undoAll(
      patchMethod(
        ChainAllocator.prototype,
        "price",
        (original) =>
          function (this: ChainAllocator, demand: readonly number[], kind = "take") {
            spans = this.bands.map((band) => band.spanCount);
            const priced = original.call(this, demand, kind);
            spans = [];
            return priced;
          },
      ),
      patchMethod(
        StageCapacity.prototype,
        "fits",
        (original) =>
          function (
            this: StageCapacity,
            live: readonly number[],
            demand: readonly number[],
          ): boolean {
            return original.call(
              this,
              live.map((pages, index) => Math.max(pages, spans[index] ?? 0)),
              demand,
            );
          },
      ),
    );
  },
};
