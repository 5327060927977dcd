// A flush takes the holes of a float for compaction backlog.
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { FloatBand } from "../../src/kv/alloc/float-band.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "float-is-compacted",
  about:
    "an opportunistic flush moves a float's highest page into its lowest hole, without asking who still writes it",
  row: 20,
  where: "kv",
  plant: () =>
    patchMethod(
      ChainAllocator.prototype,
      "flush",
      (original) =>
        function (this: ChainAllocator) {
          return original.call(this).map((flushed, index) => {
            const band = this.bands[index]!; // one result a band
            const source = band instanceof FloatBand ? band.livePages().at(-1) : undefined;
            if (source === undefined || band.holes.length === 0 || band.fixed.has(source))
              return flushed;
            if (band.holes.at(0) > source) return flushed;
            const target = band.holes.shift();
            band.rebind(source, target, this.steps.clock);
            band.addHole(source);
            const moves = [[source, target]] as const;
            this.scope.emit(["move", band.plan.name, moves]);
            this.moveEpoch += 1;
            return { ...flushed, moves };
          });
        },
    ),
};
