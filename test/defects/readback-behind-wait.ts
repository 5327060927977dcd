// Publication waits the writers first and reads the places back behind that.
import { changeEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "readback-behind-wait",
  about: "the readback of a publication stands behind the wait for a forward in the same operation",
  row: 30,
  where: "kv",
  plant: () =>
    changeEffects((effects) => {
      const at = effects.findIndex(([kind, why]) => kind === "hostread" && why === "publish");
      if (at < 0 || effects[at + 1]?.[0] !== "wait") return effects;
      const [read] = effects.splice(at, 1);
      return read === undefined ? effects : effects.toSpliced(at + 1, 0, read);
    }),
};
