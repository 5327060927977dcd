// A verify forward commits into the slot that the table names when it ends.
import { CommitSlots } from "../../src/device/harness/forwards.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "late-commit-in-forward",
  about:
    "the commit of a verify forward looks the slot up after its read end, when the row may have another",
  row: 38,
  where: "device",
  plant: () =>
    patchMethod(
      CommitSlots.prototype,
      "ofForward",
      () => (_resolved: number, now: () => number) => now(),
    ),
};
