// A take grows first and uses its holes for the rest of the list.
import { changeAcquired } from "./acquire.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "fresh-before-holes",
  about:
    "a mixed take hands out its fresh pages before its holes, so that batches of other sizes get other pages",
  row: 11,
  where: "kv",
  plant: () =>
    changeAcquired(({ pages, reused }) => [...pages.slice(reused), ...pages.slice(0, reused)]),
};
