// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "forward-skips-copy",
  about: "a forward does not wait for the load of the pages it reads",
  row: null,
  where: "kv",
  plant: () => clearNothing("forward", "copy"),
};
