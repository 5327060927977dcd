// The write-after-read barrier of a forward never reaches the device.
import { dropEffects } from "./effects.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "barrier-skipped",
  about: "forward.barrier has no effect: rows are written while a forward still reads them",
  row: null,
  where: "kv",
  plant: () => dropEffects(([kind]) => kind === "barrier"),
};
