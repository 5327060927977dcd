// A float: a band between the ends, with free space on both sides. Its holes are assets, reused in place; it never
// compacts, and moves only when a planned layout places it anew. Empty, it is parked and transparent.
import { Band, PAGE } from "./band.js";
import type { ForwardStep } from "./forward-steps.js";

/** A band that owns the pages `[low, end)` of its grid. @internal */
export class FloatBand extends Band {
  low: number = this.plan.pages;
  end: number = this.plan.pages;

  override get spanFirst(): number {
    return this.low;
  }
  override get spanCount(): number {
    return this.end - this.low;
  }

  /** Grows to one side, the one that the plan's first page tells; from empty, to the planned place. */
  protected override grow(count: number, plannedFirst: number): number {
    if (this.low === this.end) {
      this.low = plannedFirst;
      this.end = plannedFirst + count;
      return plannedFirst;
    }
    if (plannedFirst < this.low) {
      this.low -= count;
      return this.low;
    }
    this.end += count;
    return this.end - count;
  }

  override free(virtual: number, forward: ForwardStep | null): number {
    const page = super.free(virtual, forward);
    this.parkIfEmpty();
    return page;
  }

  override freeUnbound(page: number, forward: ForwardStep | null): void {
    super.freeUnbound(page, forward);
    this.parkIfEmpty();
  }

  override releasePendingThrough(launch: number): number[] {
    const released = super.releasePendingThrough(launch);
    this.parkIfEmpty();
    return released;
  }

  /** Leaves its span when no page is live or pending: neighbours then see through it. Tells whether it did. */
  parkIfEmpty(): boolean {
    if (this.live > 0 || this.pendingPages > 0 || this.low === this.end) return false;
    this.moveSpan(this.plan.pages, this.plan.pages);
    return true;
  }

  /** Hands boundary holes back. The edges themselves tell whether there are any, so no flag can go stale; the hole list
   * is put in order only if something changed. */
  override absorb(): number {
    let low = this.low;
    let end = this.end;
    while (low < end && this.status[low] === PAGE.hole) low += 1;
    while (end > low && this.status[end - 1] === PAGE.hole) end -= 1;
    const absorbed = low - this.low + this.end - end;
    if (absorbed === 0) return 0;
    const kept = this.holes.toArray().filter((page) => page >= low && page < end);
    this.holes.replace(kept.sort((left, right) => left - right));
    for (let page = this.low; page < low; page++) this.leave(page);
    for (let page = end; page < this.end; page++) this.leave(page);
    this.low = low;
    this.end = end;
    this.epoch += 1;
    return absorbed;
  }

  /** Takes a new span without holes; pages of the old one that are not live are let go. */
  moveSpan(low: number, end: number): void {
    for (let page = this.low; page < this.end; page++) {
      if (this.status[page] !== PAGE.live) this.leave(page);
    }
    this.holes.clear();
    this.low = low;
    this.end = end;
    this.epoch += 1;
  }

  /** Live pages, ascending. */
  livePages(): number[] {
    const pages: number[] = [];
    for (let page = this.low; page < this.end; page++)
      if (this.status[page] === PAGE.live) pages.push(page);
    return pages;
  }
}
