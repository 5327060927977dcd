// A forward's writes counted in whole pages from the page after its first token on.
import type { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { PageUsage } from "../../src/kv/alloc/page-usage.js";
import type { Defect } from "./defect.js";
import { patchMethod } from "./patch.js";

export const defect: Defect = {
  name: "blind-write-inside-page",
  about:
    "a forward that goes on in the middle of a page is not known to write that page, so that a flush moves it meanwhile",
  row: null,
  where: "kv",
  plant: () =>
    patchMethod(
      PageUsage.prototype,
      "uses",
      (original) =>
        function (
          this: PageUsage,
          step: ForwardStep,
          band: Band,
          page: number,
          use: "reads" | "writes",
        ): boolean {
          const isUsed = original.call(this, step, band, page, use);
          if (!isUsed || use === "reads" || band.plan.kind === "state") return isUsed;
          const id = band.p2v[page]!; // a page of the grid
          for (const [request, { from }] of step.entries) {
            const position = request.pages.indexOf(id);
            if (position >= 0) return position * band.plan.unitsPerPage >= from;
          }
          return true;
        },
    ),
};
