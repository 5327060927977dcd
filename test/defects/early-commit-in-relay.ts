// The commit of a relayed step goes to the slot that the first stage resolved.
import { CommitSlots } from "../../src/device/harness/forwards.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "early-commit-in-relay",
  about:
    "a relayed commit writes the place that the state had at the metadata, though it moved since",
  row: 38,
  where: "device",
  plant: () => patchMethod(CommitSlots.prototype, "ofRelay", () => (resolved: number) => resolved),
};
