// A take turns pending pages into holes and forgets which forward they waited for.
import { changeAcquired } from "./acquire.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "settle-without-wait",
  about:
    "pages of a settled pending batch are zeroed without waiting for the forward that still reads them",
  row: 39,
  where: "kv",
  plant: () =>
    changeAcquired(({ pages, settled }) => {
      settled.forward = null;
      return pages;
    }),
};
