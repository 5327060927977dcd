// A band: the pages of one sub-pool inside the arena, live, hole, pending or vacated, and their bindings.
// What an end and a float do differently (growth, spans, absorption) is in their own files.
import { append } from "../../base/append.js";
import { assert } from "../../base/assert.js";
import { hashName, LaneSum } from "../../base/digest.js";
import { IdQueue } from "../../base/id-queue.js";
import type { BandPlan } from "../memory/geometry.js";
import type { Request } from "../requests.js";
import type { ForwardStep } from "./forward-steps.js";
import { type HostCopy, isOver, type NetworkTransfer, newer, type Signal } from "./signals.js";

/** State of one page. @internal */
export const PAGE = { beyond: 0, live: 1, hole: 2, pending: 3, vacated: 4 } as const;

/** Pages freed while a forward was unprocessed, waiting for it together. @internal */
export interface PendingBatch {
  readonly forward: ForwardStep; // the batch's key
  readonly pages: number[]; // in the order of their frees
}

/** A page that a move left while forwards or sends may still read it. @internal */
export interface VacatedPage {
  readonly page: number;
  readonly readers: readonly Signal[]; // forwards, then transfers, each oldest first; none of them over
}

/** Who held a live page under another id until an operation gave it a new one: its forwards go on using it. @internal */
export interface FormerHolder {
  readonly request: Request;
  readonly position: number; // the page's number in that row
  readonly boundAt: number; // number of the operation that bound the page under the former id
}

/** A copy or transfer that uses a page at its place. @internal */
export type PlaceUse = HostCopy | NetworkTransfer;
const NO_USES: readonly PlaceUse[] = [];

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
  fixed: 21,
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
  /** By page: the row that held it under another id before `boundAt`. */
  readonly former = new Map<number, FormerHolder>();
  live = 0;
  pendingPages = 0;
  /** Rises with every change of a capacity field or of content that the digest sees. */
  epoch = 0;
  readonly cells = new LaneSum(); // bindings, pending, vacated, fixed
  /** Live pages that load reservations fix; those not yet bound to an id are among them. */
  readonly fixed = new Set<number>();
  /** Copies and transfers that use a page at its place, by page; only pages inside the span. */
  readonly uses = new Map<number, PlaceUse[]>();
  /** Operation in which a row let go of its page under an id, while the free waits for a group's end or a transfer. */
  readonly #letGoAt = new Map<number, number>();
  /** Called with a page that leaves the span while somebody still uses its bytes. */
  onLeave: (band: Band, page: number, users: readonly Signal[]) => void = () => undefined;
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
    if (this.#letGoAt.size > 0) this.#letGoAt.delete(virtual);
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

  /** Binds the page of one id to another in its place. Forwards launched before go on using it for the row that had it. */
  rename(from: number, to: number, clock: number, holder: Omit<FormerHolder, "boundAt">): void {
    const page = this.v2p[from]!; // bound, the caller says
    const boundAt = this.boundAt[page]!;
    this.unbind(from, page);
    this.bind(to, page, clock);
    this.former.set(page, { ...holder, boundAt });
  }

  /** Frees a live page that no id is bound to. */
  freeUnbound(page: number, forward: ForwardStep | null): void {
    assert(
      this.p2v[page] === 0 && this.status[page] === PAGE.live,
      "band.free_of_unbound_live_page",
    );
    this.live -= 1;
    if (forward === null) this.addHole(page);
    else this.#pend(page, forward);
    this.epoch += 1;
  }

  /** Notes that no row holds this band's page of an id any more, though it is still bound. */
  letGo(virtual: number, clock: number): void {
    if (!this.#letGoAt.has(virtual)) this.#letGoAt.set(virtual, clock);
  }
  /** Whether no row held this band's page of an id when operation `clock` began. */
  wasLetGo(virtual: number, clock: number): boolean {
    return this.#letGoAt.size > 0 && (this.#letGoAt.get(virtual) ?? clock) < clock;
  }

  /** Fixes a live page in place under a load reservation. */
  fix(page: number): void {
    this.fixed.add(page);
    if (this.keepsCells) this.cells.add(BAND_FIELD.fixed, page, 1);
    this.epoch += 1;
  }
  unfix(page: number): void {
    if (!this.fixed.delete(page)) return;
    if (this.keepsCells) this.cells.remove(BAND_FIELD.fixed, page, 1);
    this.epoch += 1;
  }

  /** Copies and transfers that use a page at its place, oldest first. */
  usesAt(page: number): readonly PlaceUse[] {
    return this.uses.size === 0 ? NO_USES : (this.uses.get(page) ?? NO_USES);
  }
  addUses(pages: readonly number[], use: PlaceUse): void {
    for (const page of pages) {
      const list = this.uses.get(page);
      if (list === undefined) this.uses.set(page, [use]);
      else list.push(use);
    }
    this.epoch += 1;
  }
  /** Forgets a use; pages that left the span meanwhile are not listed any more. */
  dropUses(pages: readonly number[], use: PlaceUse): void {
    for (const page of pages) {
      const list = this.uses.get(page);
      const at = list?.indexOf(use) ?? -1;
      if (list === undefined || at < 0) continue;
      if (list.length === 1) this.uses.delete(page);
      else list.splice(at, 1);
    }
    this.epoch += 1;
  }

  /** Lets a page out of the span. Whoever still uses its bytes there, `readers` and copies and transfers at this place,
   * goes on doing so: the chain fences them. */
  leave(page: number, readers: readonly Signal[] = NO_USES): void {
    this.status[page] = PAGE.beyond;
    const uses = this.usesAt(page);
    if (uses.length === 0 && readers.length === 0) return;
    this.uses.delete(page);
    this.onLeave(this, page, [
      ...readers.filter((reader) => !uses.some((use) => use === reader)),
      ...uses,
    ]);
  }

  addHole(page: number): void {
    this.status[page] = PAGE.hole;
    this.holes.push(page);
    this.epoch += 1;
  }

  addVacated(page: number, readers: readonly Signal[]): void {
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

  /** Returns vacated pages whose readers are all over to the tail of the hole list; readers that are over are forgotten. */
  releaseVacated(): void {
    if (this.vacated.length === 0) return;
    const ready = this.dropVacated((entry) => entry.readers.some((reader) => !isOver(reader)));
    for (const { page } of ready) this.addHole(page);
    for (const [index, { page, readers }] of this.vacated.entries()) {
      const left = readers.filter((reader) => !isOver(reader));
      if (left.length === readers.length) continue;
      if (this.keepsCells) {
        this.cells.remove(BAND_FIELD.vacated, page, newestName(readers));
        this.cells.add(BAND_FIELD.vacated, page, newestName(left));
      }
      this.vacated[index] = { page, readers: left };
      this.epoch += 1;
    }
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
      append(released, this.pending[0]!.pages);
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
    if (this.former.size > 0) this.former.delete(page);
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

function newestName(readers: readonly Signal[]): number {
  return hashName(readers.at(-1)!.name); // a vacated page has a reader
}
