// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "move-skips-network",
  about: "a move does not wait for a transfer over its source or its destination",
  row: null,
  where: "kv",
  plant: () => clearNothing("schedule_copy", "network"),
};
