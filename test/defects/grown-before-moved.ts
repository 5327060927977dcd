// A take zeroes what it grew into before relief has moved the float away.
import { changeEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "grown-before-moved",
  about: "fresh pages are zeroed before the moves that free their bytes",
  row: 24,
  where: "kv",
  plant: () =>
    changeEffects((effects) => [
      ...effects.filter(([kind]) => kind !== "move" && kind !== "zero"),
      ...effects.filter(([kind]) => kind === "zero"),
      ...effects.filter(([kind]) => kind === "move"),
    ]),
};
