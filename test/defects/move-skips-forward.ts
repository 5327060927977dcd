// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "move-skips-forward",
  about:
    "moves and state copies do not wait for a forward that writes their source or uses their destination",
  row: null,
  where: "kv",
  plant: () => clearNothing("schedule_copy", "forward"),
};
