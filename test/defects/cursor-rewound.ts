// A flush commits in two parts and picks its survivors again from the start.
import type { Effect } from "../../src/base/effects.js";
import { changeEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "cursor-rewound",
  about:
    "after an inner commit the survivor cursor is rewound, and pages that were just moved are moved again",
  row: 16,
  where: "kv",
  plant: () =>
    changeEffects((effects) =>
      effects.flatMap((effect): readonly Effect[] => {
        if (effect[0] !== "move" || effect[2].length < 2) return [effect];
        const half = effect[2].slice(0, Math.ceil(effect[2].length / 2));
        return [["move", effect[1], half], effect];
      }),
    ),
};
