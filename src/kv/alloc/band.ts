// A band: the pages of one sub-pool inside the arena, live, hole, pending or vacated, and their bindings.
// What an end and a float do differently (growth, spans, absorption) is in their own files.
import { assert } from "../../base/assert.js";
import { hashName, LaneSum } from "../../base/digest.js";
import { IdQueue } from "../../base/id-queue.js";
import type { BandPlan } from "../memory/geometry.js";
import type { ForwardStep } from "./forward-steps.js";
import { newer } from "./signals.js";

/** State of one page. @internal */
export const PAGE = { beyond: 0, live: 1, hole: 2, pending: 3, vacated: 4 } as const;

/** Pages freed while a forward was unprocessed, waiting for it together. @internal */
export interface PendingBatch {
  readonly forward: ForwardStep; // the batch's key
  readonly pages: number[]; // in the order of their frees
}

/** A page that a move left while forwards may still read it. @internal */
export interface VacatedPage {
  readonly page: number;
  readonly readers: readonly ForwardStep[]; // oldest first
}

/** Which parts of a band's content the digest covers. @internal */
export interface DigestParts {
  readonly layout: boolean;
}

/** Digest fields of a band; the counts 1 to 8 are added when the digest is taken. @internal */
export const BAND_FIELD = {
  holes: 16,
  binding: 17,
  pending: 0x120000,
  vacated: 19,
  freeIds: 20,
} as const;

/** One band of the chain. Pages are numbers on the band's own grid. @internal */
export abstract class Band {
  readonly plan: BandPlan;
  readonly index: number; // place in the chain, 0 lowest
  readonly status: Uint8Array; // PAGE by page
  readonly holes: IdQueue; // list order: frees at the tail, takes at the head
  readonly pending: PendingBatch[] = []; // oldest first
  vacated: VacatedPage[] = []; // in the order of their moves
  readonly v2p: Int32Array; // physical page by virtual id, 0 = unbound
  readonly p2v: Int32Array; // virtual id by physical page, 0 = none
  readonly boundAt: Int32Array; // number of the operation that bound the page
  live = 0;
  pendingPages = 0;
  /** Rises with every change of a capacity field or of content that the digest sees. */
  epoch = 0;
  readonly cells = new LaneSum(); // bindings, pending, vacated
  readonly keepsCells: boolean; // digest depth layout or deep

  constructor(plan: BandPlan, index: number, virtualIds: number, parts: DigestParts) {
    this.plan = plan;
    this.index = index;
    this.keepsCells = parts.layout;
    const pages = Math.max(plan.pages, 0);
    this.status = new Uint8Array(pages);
    this.p2v = new Int32Array(pages);
    this.boundAt = new Int32Array(pages);
    this.v2p = new Int32Array(virtualIds);
    this.holes = new IdQueue(parts.layout ? BAND_FIELD.holes : 0);
  }

  /** First page and number of pages of the span. */
  abstract get spanFirst(): number;
  abstract get spanCount(): number;
  /** Grows by `count` pages; returns the lowest of them. The caller has checked that they fit. A float follows the first
   * page of its planned span. */
  protected abstract grow(count: number, plannedFirst: number): number;
  /** Gives hole pages at the boundary back to the gap; returns how many. */
  abstract absorb(): number;

  /** Pages that a take may still use by count: the index cap counts vacated pages as used. */
  get indexRoom(): number {
    return this.plan.pages - this.plan.first_page - this.live - this.vacated.length;
  }

  /** Takes `count` pages: holes in list order, the oldest whole pending batches, growth. Returns them in that order and,
   * through `settled`, the newest forward whose pages were settled. Nothing is bound yet. */
  acquire(
    count: number,
    plannedFirst: number,
    settled: { forward: ForwardStep | null; fresh: number },
  ): number[] {
    const pages: number[] = [];
    while (this.holes.length < count && this.pending.length > 0) {
      settled.forward = newer(settled.forward, this.settleOldest());
    }
    const reused = Math.min(count, this.holes.length);
    for (let i = 0; i < reused; i++) pages.push(this.holes.shift());
    const fresh = count - reused;
    if (fresh > 0) {
      const first = this.grow(fresh, plannedFirst);
      settled.fresh = first;
      for (let i = 0; i < fresh; i++) pages.push(first + i);
    }
    for (const page of pages) this.status[page] = PAGE.live;
    this.live += count;
    this.epoch += 1;
    return pages;
  }

  /** Binds a taken page to a virtual id. */
  bind(virtual: number, page: number, clock: number): void {
    this.v2p[virtual] = page;
    this.p2v[page] = virtual;
    this.boundAt[page] = clock;
    if (this.keepsCells) this.cells.add(BAND_FIELD.binding, virtual, page);
    this.epoch += 1;
  }

  /** Frees the live page bound to `virtual`: a hole, or pending under `forward`. Returns the page. */
  free(virtual: number, forward: ForwardStep | null): number {
    const page = this.v2p[virtual]!;
    assert(page > 0 && this.status[page] === PAGE.live, "band.free_of_bound_page");
    this.unbind(virtual, page);
    this.live -= 1;
    if (forward === null) this.addHole(page);
    else this.#pend(page, forward);
    this.epoch += 1;
    return page;
  }

  /** Moves a live page's content to a free page and rebinds it; the source is left for the caller to dispose of. */
  rebind(source: number, target: number, clock: number): void {
    const virtual = this.p2v[source]!;
    this.unbind(virtual, source);
    this.status[target] = PAGE.live;
    this.bind(virtual, target, clock);
  }

  addHole(page: number): void {
    this.status[page] = PAGE.hole;
    this.holes.push(page);
    this.epoch += 1;
  }

  addVacated(page: number, readers: readonly ForwardStep[]): void {
    this.status[page] = PAGE.vacated;
    this.vacated.push({ page, readers });
    if (this.keepsCells) this.cells.add(BAND_FIELD.vacated, page, newestName(readers));
    this.epoch += 1;
  }

  /** Takes vacated entries out; the pages' next state is the caller's. */
  dropVacated(keep: (entry: VacatedPage) => boolean): VacatedPage[] {
    const dropped: VacatedPage[] = [];
    this.vacated = this.vacated.filter((entry) => {
      if (keep(entry)) return true;
      dropped.push(entry);
      return false;
    });
    for (const { page, readers } of dropped) {
      if (this.keepsCells) this.cells.remove(BAND_FIELD.vacated, page, newestName(readers));
    }
    if (dropped.length > 0) this.epoch += 1;
    return dropped;
  }

  /** Returns vacated pages whose readers are all retired to the tail of the hole list. */
  releaseVacated(): void {
    if (this.vacated.length === 0) return;
    const ready = this.dropVacated((entry) => entry.readers.some((reader) => !reader.retired));
    for (const { page } of ready) this.addHole(page);
  }

  /** Turns the oldest pending batch into holes; returns its forward. */
  settleOldest(): ForwardStep {
    const batch = this.pending.shift()!; // the caller saw one
    const field = BAND_FIELD.pending + hashName(batch.forward.name);
    for (const [index, page] of batch.pages.entries()) {
      if (this.keepsCells) this.cells.remove(field, index, page);
      this.addHole(page);
    }
    this.pendingPages -= batch.pages.length;
    return batch.forward;
  }

  /** Returns every batch keyed at or before `launch` to the hole list, oldest first; lists the pages. */
  releasePendingThrough(launch: number): number[] {
    const released: number[] = [];
    while (this.pending.length > 0 && this.pending[0]!.forward.launch <= launch) {
      released.push(...this.pending[0]!.pages);
      this.settleOldest();
    }
    return released;
  }

  /** The newest forward that any pending page waits for. */
  get newestPending(): ForwardStep | null {
    return this.pending.at(-1)?.forward ?? null;
  }

  /** Puts a loaded batch in place, oldest first. */
  restorePending(forward: ForwardStep, pages: readonly number[]): void {
    for (const page of pages) this.#pend(page, forward);
  }

  protected unbind(virtual: number, page: number): void {
    this.v2p[virtual] = 0;
    this.p2v[page] = 0;
    if (this.keepsCells) this.cells.remove(BAND_FIELD.binding, virtual, page);
  }

  #pend(page: number, forward: ForwardStep): void {
    this.status[page] = PAGE.pending;
    this.pendingPages += 1;
    let batch = this.pending.at(-1);
    if (batch?.forward !== forward) {
      batch = { forward, pages: [] };
      this.pending.push(batch);
    }
    if (this.keepsCells) {
      this.cells.add(BAND_FIELD.pending + hashName(forward.name), batch.pages.length, page);
    }
    batch.pages.push(page);
  }
}

// The newest reader stays unretired as long as the page is vacated, so the cell never changes in between.
function newestName(readers: readonly ForwardStep[]): number {
  return hashName(readers.at(-1)!.name);
}
