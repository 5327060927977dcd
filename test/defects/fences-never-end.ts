// Fences whose users are over stay in the list.
import { FenceList } from "../../src/kv/alloc/fences.js";
import { patchMethod } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "fences-never-end",
  about: "a fence is not forgotten when the last who may use its bytes is over",
  row: null,
  where: "kv",
  plant: () => patchMethod(FenceList.prototype, "dropOver", () => () => undefined),
};
