// Collects what an operation frees, in order, and writes it as the page lists of an answer.
import { ExtentBuilder } from "../base/extents.js";
import type { Extents, PageLists } from "../base/operations.js";
import type { Band } from "./alloc/band.js";

/** Page lists under construction: `virtual`, `slots`, then the bands in chain order. @internal */
export class PageListBuilder {
  readonly virtual = new ExtentBuilder();
  readonly slots = new ExtentBuilder();
  readonly bands: readonly ExtentBuilder[];
  readonly #names: readonly string[];

  constructor(bands: readonly Band[]) {
    this.bands = bands.map(() => new ExtentBuilder());
    this.#names = bands.map((band) => band.plan.name);
  }

  /** The lists so far, empty ones left out; the builder starts anew. */
  take(): PageLists {
    const lists: Record<string, Extents> = {};
    if (!this.virtual.isEmpty) lists["virtual"] = this.virtual.take();
    if (!this.slots.isEmpty) lists["slots"] = this.slots.take();
    for (let index = 0; index < this.bands.length; index++) {
      const builder = this.bands[index]!; // one a band
      if (!builder.isEmpty) lists[this.#names[index]!] = builder.take();
    }
    return lists;
  }
}
