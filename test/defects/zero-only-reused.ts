// "Fresh pages were zeroed at boot": only pages that were in use before are zeroed.
import { toExtents, expand } from "../../src/base/extents.js";
import type { Effect } from "../../src/base/effects.js";
import { changeAcquired } from "./acquire.js";
import { changeEffects } from "./effects.js";
import { undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "zero-only-reused",
  about:
    "pages that a band grows into are not zeroed, though another band may have written their bytes",
  row: null,
  where: "kv",
  plant: () => {
    const fresh = new Map<string, Set<number>>(); // by band, of the operation under way
    return undoAll(
      changeAcquired(({ band, pages, reused }) => {
        fresh.set(band.plan.name, new Set(pages.slice(reused)));
        return pages;
      }),
      changeEffects((effects) => {
        const kept = effects.flatMap((effect): readonly Effect[] => {
          if (effect[0] !== "zero") return [effect];
          const grown = fresh.get(effect[1]);
          const pages = expand(effect[2]).filter((page) => grown?.has(page) !== true);
          return pages.length === 0 ? [] : [["zero", effect[1], toExtents(pages)]];
        });
        fresh.clear();
        return kept;
      }),
    );
  },
};
