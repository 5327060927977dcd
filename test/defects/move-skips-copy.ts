// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "move-skips-copy",
  about: "a move does not wait for a host copy into its source or over its destination",
  row: null,
  where: "kv",
  plant: () => clearNothing("schedule_copy", "copy"),
};
