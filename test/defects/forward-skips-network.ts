// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "forward-skips-network",
  about: "a forward does not wait for a receive into the pages it reads",
  row: null,
  where: "kv",
  plant: () => clearNothing("forward", "network"),
};
