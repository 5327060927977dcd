// "A state is reset before it is used": bytes that the state band gave back are taken for clean.
import type { Effect } from "../../src/base/effects.js";
import { expand, toExtents } from "../../src/base/extents.js";
import { ChainAllocator } from "../../src/kv/alloc/chain.js";
import { EffectScope } from "../../src/kv/alloc/signals.js";
import type { Defect } from "./defect.js";
import { patchMethod, undoAll } from "./patch.js";

export const defect: Defect = {
  name: "state-bytes-not-zeroed",
  about: "token pages that grow into bytes of former states are not zeroed",
  row: null,
  where: "kv",
  plant: () => {
    // By the effects' scope: page bytes by band, and the highest byte that the state band ever had.
    const chains = new WeakMap<
      EffectScope,
      { readonly sizes: ReadonlyMap<string, number>; top: number }
    >();
    return undoAll(
      patchMethod(
        ChainAllocator.prototype,
        "endOperation",
        (original) =>
          function (this: ChainAllocator): void {
            const sizes = new Map(
              this.bands.map(({ plan }) => [plan.name, plan.page_bytes] as const),
            );
            const known = chains.get(this.scope) ?? { sizes, top: 0 };
            const state = this.stateBand;
            const top =
              state === null ? 0 : (state.spanFirst + state.spanCount) * state.plan.page_bytes;
            known.top = Math.max(known.top, top);
            chains.set(this.scope, known);
            original.call(this);
          },
      ),
      patchMethod(
        EffectScope.prototype,
        "take",
        (original) =>
          function (this: EffectScope): readonly Effect[] {
            const known = chains.get(this);
            return original.call(this).flatMap((effect): readonly Effect[] => {
              if (effect[0] !== "zero" || known === undefined) return [effect];
              const size = known.sizes.get(effect[1]) ?? 0;
              const pages = expand(effect[2]).filter((page) => page * size >= known.top);
              return pages.length === 0 ? [] : [["zero", effect[1], toExtents(pages)]];
            });
          },
      ),
    );
  },
};
