// Recovery waits for the forward before it reads from the device.
import { changeEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "host-read-behind-wait",
  about:
    "the host read of a recovery stands behind the settling wait, so that the scheduler stands still for a whole forward",
  row: 30,
  where: "kv",
  plant: () =>
    changeEffects((effects) => {
      const at = effects.findIndex(([kind, why]) => kind === "hostread" && why === "recovery");
      if (at < 0 || effects[at + 1]?.[0] !== "wait") return effects;
      const [read] = effects.splice(at, 1);
      return read === undefined ? effects : effects.toSpliced(at + 1, 0, read);
    }),
};
