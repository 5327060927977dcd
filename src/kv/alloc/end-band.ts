// An end of the chain: it grows from one end of the arena and is compacted towards that end.
import { assert } from "../../base/assert.js";
import { Band, PAGE } from "./band.js";

/** A grow-up or grow-down end. Distances are counted in pages from the band's base. @internal */
export class EndBand extends Band {
  /** Pages between the base and the frontier. */
  span = 0;

  get isUp(): boolean {
    return this.plan.grow === "up";
  }
  override get spanCount(): number {
    return this.span;
  }
  override get spanFirst(): number {
    return this.isUp ? this.plan.first_page : this.plan.pages - this.span;
  }

  /** The page at `distance` from the base, 0 the farthest from the frontier. */
  pageAt(distance: number): number {
    return this.isUp ? this.plan.first_page + distance : this.plan.pages - 1 - distance;
  }
  /** How far a page lies from the base. */
  distanceOf(page: number): number {
    return this.isUp ? page - this.plan.first_page : this.plan.pages - 1 - page;
  }

  protected override grow(count: number): number {
    assert(this.span + count <= this.plan.pages - this.plan.first_page, "end.growth_within_grid");
    const first = this.isUp
      ? this.plan.first_page + this.span
      : this.plan.pages - this.span - count;
    this.span += count;
    return first;
  }

  /** Retreats the frontier over the run of holes that touches it. Sorts the hole list. */
  override absorb(): number {
    if (this.holes.length === 0) return 0;
    if (!this.holes.isAscending) {
      this.holes.sort();
      this.epoch += 1;
    }
    let absorbed = 0;
    while (this.span > 0 && this.status[this.pageAt(this.span - 1)] === PAGE.hole) {
      const page = this.isUp ? this.holes.pop() : this.holes.shift(); // the outermost hole of a sorted list
      this.leave(page);
      this.span -= 1;
      absorbed += 1;
    }
    if (absorbed > 0) this.epoch += 1;
    return absorbed;
  }
}
