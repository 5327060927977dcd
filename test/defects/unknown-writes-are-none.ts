// A forward whose writes are not known is taken to write nothing.
import { Band } from "../../src/kv/alloc/band.js";
import type { ForwardStep } from "../../src/kv/alloc/forward-steps.js";
import { PageUsage } from "../../src/kv/alloc/page-usage.js";
import { patchGetter, patchMethod, undoAll } from "./patch.js";
import type { Defect } from "./defect.js";

export const defect: Defect = {
  name: "unknown-writes-are-none",
  about: "a flush moves pages while a forward with unknown writes runs",
  row: 19,
  where: "kv",
  plant: () => {
    const known = new WeakMap<PageUsage, (band: Band, page: number) => boolean>();
    return undoAll(
      patchGetter(PageUsage.prototype, "hasUnknownWrites", () => () => false),
      patchMethod(
        PageUsage.prototype,
        "readersOf",
        (original) =>
          function (this: PageUsage, band: Band, page: number): readonly ForwardStep[] {
            known.set(this, (other, at) =>
              original.call(this, other, at).some((step) => this.uses(step, other, at, "writes")),
            );
            return original.call(this, band, page);
          },
      ),
      patchMethod(
        PageUsage.prototype,
        "isWritten",
        () =>
          function (this: PageUsage, band: Band, page: number): boolean {
            this.readersOf(band, page);
            return known.get(this)?.(band, page) ?? false;
          },
      ),
    );
  },
};
