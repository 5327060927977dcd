// The places are told to the peer as the host remembers them.
import { dropEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "publish-without-readback",
  about:
    "publication does not read the ids back, so that it may run before the take's waits or after a move",
  row: 36,
  where: "kv",
  plant: () => dropEffects(([kind, why]) => kind === "hostread" && why === "publish"),
};
