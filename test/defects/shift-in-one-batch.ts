// The ordered single moves of an overlapping shift joined into one copy.
import type { Effect } from "../../src/base/effects.js";
import { changeEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "shift-in-one-batch",
  about:
    "an overlapping shift of a float is one batch, whose sources are overwritten before they are read",
  row: 22,
  where: "kv",
  plant: () =>
    changeEffects((effects) => {
      const joined: Effect[] = [];
      for (const effect of effects) {
        const last = joined.at(-1);
        if (effect[0] === "move" && last?.[0] === "move" && last[1] === effect[1])
          joined[joined.length - 1] = ["move", effect[1], [...last[2], ...effect[2]]];
        else joined.push(effect);
      }
      return joined;
    }),
};
