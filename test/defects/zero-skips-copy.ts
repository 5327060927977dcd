// One cell of the clearance table says that nothing is to be cleared.
import { clearNothing } from "./clearance-cell.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "zero-skips-copy",
  about: "zeroing a page does not wait for a host copy that still uses it",
  row: 39,
  where: "kv",
  plant: () => clearNothing("zero", "copy"),
};
