// The check for an open launch is forgotten.
import { KvCore } from "../../src/kv/core.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "taken-before-record",
  about: "takes and frees between a launch and its record are granted",
  row: 33,
  where: "kv",
  plant: () => patchMethod(KvCore.prototype, "launchOpen", () => () => null),
};
