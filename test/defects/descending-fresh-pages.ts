// The fresh part of a mixed grow-down take comes from the frontier downwards.
import { changeAcquired } from "./acquire.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "descending-fresh-pages",
  about: "a grow-down end hands out fresh pages in descending order when it also reuses holes",
  row: 10,
  where: "kv",
  plant: () =>
    changeAcquired(({ band, pages, reused }) => {
      if (band.plan.grow !== "down" || reused === 0) return pages;
      return [...pages.slice(0, reused), ...pages.slice(reused).reverse()];
    }),
};
