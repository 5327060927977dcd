// A take that had to make room leaves the zeroing to whoever freed the bytes.
import { changeEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "zeroing-left-to-relief",
  about: "a take behind a relief does not zero its pages, which other bands have just left",
  row: null,
  where: "kv",
  plant: () =>
    changeEffects((effects) =>
      effects.some(([kind]) => kind === "hostread")
        ? effects.filter(([kind]) => kind !== "zero")
        : effects,
    ),
};
