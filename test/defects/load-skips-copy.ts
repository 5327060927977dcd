// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "load-skips-copy",
  about: "a load does not wait for a backup that still reads the pages it overwrites",
  row: null,
  where: "kv",
  plant: () => clearNothing("host_load", "copy"),
};
