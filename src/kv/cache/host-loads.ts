// Loads: device pages reserved for a copy from the host, bound, written, or given back. Whoever reserves pages for a copy
// fixes them, since the copy's places are not known to anybody else until it is submitted.
import type { OperationError, PageLists, StatePurpose } from "../../base/operations.js";
import { HazardSet } from "../alloc/clearance.js";
import type { HostCopy } from "../alloc/signals.js";
import type { Taken } from "../alloc/chain.js";
import type { Band } from "../alloc/band.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";
import {
  type Load,
  type LoadedRow,
  type LoadedWindow,
  type LoadPath,
  REDUNDANT,
} from "./host-cache.js";

/** Makes a load of taken pages: full pages and states get ids, window pages none; all are fixed. With stages only window
 * pages are: full pages and states can move, since ids name them. Lists what was taken. @internal */
export function reserveLoad(
  core: KvCore,
  name: string,
  taken: Taken,
  path: LoadPath | null = null,
): Load {
  const { chain, lists } = core;
  const ids: number[] = [];
  const slots: number[] = [];
  const windows: LoadedWindow[][] = chain.bands.map(() => []);
  const load: Load = {
    name,
    ids,
    slots,
    windows,
    isBound: false,
    isSubmitted: false,
    row: null,
    path,
  };
  const positions = path === null ? [] : positionsOf(path, core.config.pageSize);
  for (const band of chain.bands) {
    for (const [index, page] of taken.pages[band.index]!.entries()) {
      lists.bands[band.index]!.add(page);
      if (band.plan.isWindow) windows[band.index]!.push({ page, id: 0 });
      else if (band.plan.isOwner)
        ids.push(nameLoaded(core, load, band, page, positions[index] ?? 0));
      else slots.push(nameLoaded(core, load, band, page, 0));
      if (band.plan.isWindow || chain.stages === null) band.fix(page);
    }
  }
  for (const id of ids) lists.virtual.add(id);
  for (const slot of slots) lists.slots.add(slot);
  return load;
}

/** Page index in its row of each id that a load by key needs, in the order of the ids. @internal */
export function positionsOf({ parts }: LoadPath, pageTokens: number): number[] {
  return parts.flatMap(({ node, isFull }) =>
    isFull ? node.pageHashes.map((_, index) => node.from / pageTokens + index) : [],
  );
}

/** Binds a loaded page to a new id of its space. */
function nameLoaded(core: KvCore, load: Load, band: Band, page: number, position: number): number {
  const { chain } = core;
  const space = band.plan.isOwner ? chain.virtual : chain.slots!; // a state band has slots
  const id = space.free.shift(); // priced: there is one
  space.share(id, position);
  space.loading.set(id, load);
  band.bind(id, page, chain.steps.clock);
  return id;
}

/** Whether the id still is what the load minted: not freed and given to somebody else. @internal */
export function isLoadsOwn(core: KvCore, load: Load, id: number): boolean {
  return core.chain.virtual.loading.get(id) === load;
}

/** Whether a load minted the id that is not submitted yet: its page is reserved. @internal */
export function isReserved(core: KvCore, id: number): boolean {
  const { loading } = core.chain.virtual;
  return loading.size > 0 && loading.get(id)?.isSubmitted === false;
}

/** Pages of one band that loads reserved and no copy writes yet: fixed, but with stages, where ids name them and they may
 * move. @internal */
export function reservedPages(core: KvCore, band: Band): Iterable<number> {
  const ids = band.plan.kind === "state" ? core.chain.slots : core.chain.virtual;
  if (core.chain.stages === null || band.plan.isWindow || ids === null) return band.fixed;
  return [...ids.loading].flatMap(([id, load]) => (load.isSubmitted ? [] : [band.v2p[id]!]));
}

/** The rule broken by whoever frees the pages `[first, end)` of a row: one of them is reserved. Null where none is.
 * @internal */
export function reservedPage(
  core: KvCore,
  request: Request,
  first: number,
  end: number,
): OperationError | null {
  if (core.chain.virtual.loading.size === 0) return null;
  const band = core.chain.owner.plan.name;
  for (let page = first; page < end; page++)
    if (isReserved(core, request.pages[page] ?? 0))
      return invalid("free_outside_reservation", { req: request.name, band, page });
  return null;
}

/** As `isReserved`, for a slot. @internal */
export function isSlotReserved(core: KvCore, slot: number): boolean {
  return core.chain.slots?.loading.get(slot)?.isSubmitted === false;
}

/** As `reservedPage`, for the slots of a purpose. @internal */
export function reservedSlot(
  core: KvCore,
  request: Request,
  purpose: StatePurpose,
): OperationError | null {
  const { stateBand } = core.chain;
  if (stateBand === null || !request.slots[purpose].some((slot) => isSlotReserved(core, slot)))
    return null;
  return invalid("free_outside_reservation", { req: request.name, band: stateBand.plan.name });
}

/** Puts a load's ids into a row at page indices `positions`, its states behind the row's main ones. @internal */
export function enterRow(
  core: KvCore,
  load: Load,
  request: Request,
  positions: readonly number[],
): void {
  const { chain } = core;
  const clock = chain.steps.clock;
  for (const [index, id] of load.ids.entries()) {
    const position = positions[index]!; // one an id
    request.pages[position] = id;
    chain.virtual.assign(id, request, position);
    chain.owner.boundAt[chain.owner.v2p[id]!] = clock; // a forward launched before does not read it
  }
  for (const slot of load.slots) {
    chain.slots?.assign(slot, request, request.slots.main.length);
    core.requests.addSlot(request, "main", slot);
    if (chain.stateBand !== null) chain.stateBand.boundAt[chain.stateBand.v2p[slot]!] = clock;
  }
  load.row = {
    request,
    positions,
    from: request.allocated,
    cursors: [...request.cursors],
    setCursors: [...request.cursors],
  };
}

/** Sets a window's cursor of the row that a load entered. @internal */
export function setLoadedCursor(core: KvCore, row: LoadedRow, band: Band, tokens: number): void {
  row.setCursors[band.index] = tokens;
  core.requests.setCursor(row.request, band.index, tokens);
}

/** Binds one window page of a load to an owner id, which ends its reservation. @internal */
export function bindWindow(core: KvCore, band: Band, window: LoadedWindow, id: number): void {
  band.bind(id, window.page, core.chain.steps.clock);
  band.unfix(window.page);
  window.id = id;
}

/** Where a load's pages lie now, by band index. Window pages that were freed since they were bound are left out. */
function placesOf(core: KvCore, load: Load): number[][] {
  return core.chain.bands.map((band) => {
    if (band.plan.isOwner) return load.ids.map((id) => band.v2p[id]!);
    if (band.plan.kind === "state") return load.slots.map((slot) => band.v2p[slot]!);
    const there = load.windows[band.index]!.filter(
      ({ id }) => id === REDUNDANT || core.isWindowBound(band, id),
    );
    return there.map(({ page, id }) => (id === REDUNDANT ? page : band.v2p[id]!));
  });
}

/** Device pages by band index as the lists of an answer. @internal */
export function listPlaces(core: KvCore, places: readonly (readonly number[])[]): PageLists {
  for (const [band, pages] of places.entries())
    for (const page of pages) core.lists.bands[band]!.add(page);
  return core.lists.take();
}

/** Submits the copy into a load's pages and ends what is left of its reservation, with no gap. @internal */
export function submitCopyIn(core: KvCore, name: string, load: Load): HostCopy {
  const { chain } = core;
  const places = placesOf(core, load);
  const hazards = new HazardSet(chain.counts);
  for (const band of chain.bands)
    for (const page of places[band.index]!) chain.clear("host_load", hazards, band, page, "writes");
  hazards.clear(chain.scope, chain.ledger);
  const copy = chain.ledger.startCopy(chain.bands, name, "in", places);
  // Window pages were released when an id named them; one that none names stays where it is.
  for (const band of chain.bands)
    if (!band.plan.isWindow) for (const page of places[band.index]!) band.unfix(page);
  chain.scope.emit(["hostcopy", name, "in", listPlaces(core, places)]);
  load.isSubmitted = true;
  return copy;
}

/** Ends a load well: what it loaded is its row's like any other page. @internal */
export function settleLoad(core: KvCore, load: Load): void {
  const { virtual, slots } = core.chain;
  for (const id of load.ids) if (virtual.loading.get(id) === load) virtual.loading.delete(id);
  for (const slot of load.slots) if (slots?.loading.get(slot) === load) slots.loading.delete(slot);
}

/**
 * Gives everything back that a load took: reservations, bound or not, and what of it still stands in its row, which is
 * shortened where the load is its tail. What went into the tree stays there. @internal
 */
export function releaseLoad(core: KvCore, load: Load): void {
  for (const band of core.windowBands) {
    for (const { page, id } of load.windows[band.index]!) {
      if (id <= 0) core.freeReserved(band, page);
      // One bound to a node's id goes alone, others go with the load's ids.
      else if (load.path !== null && !isLoadsOwn(core, load, id)) core.freeBandPage(band, id);
    }
  }
  let last = -1; // the last page of the row that goes
  for (const [index, id] of load.ids.entries()) {
    if (!isLoadsOwn(core, load, id)) continue;
    core.chain.owner.unfix(core.chain.owner.v2p[id]!);
    const position = load.row?.positions[index] ?? 0;
    if (load.row === null) freeOwnId(core, id);
    else if (isInRow(core, load.row.request, position, id)) {
      core.freeRowPage(load.row.request, position);
      last = position;
    }
  }
  releaseSlots(core, load);
  if (load.row !== null) shorten(core, load.row, last);
  settleLoad(core, load);
}

function releaseSlots(core: KvCore, load: Load): void {
  const { slots, stateBand } = core.chain;
  const { row } = load;
  if (slots === null || stateBand === null) return;
  for (const slot of load.slots) {
    if (slots.loading.get(slot) !== load) continue;
    stateBand.unfix(stateBand.v2p[slot]!);
    if (row !== null) {
      if (slots.holder(slot) !== row.request) continue; // the tree's by now
      if (!core.requests.removeSlot(row.request, "main", slot)) continue;
    }
    core.freeSlot(slot);
  }
}

function isInRow(core: KvCore, request: Request, position: number, id: number): boolean {
  return request.pages[position] === id && core.chain.virtual.holder(id) === request;
}

/** Frees an id that no row names, with all its pages. @internal */
export function freeOwnId(core: KvCore, id: number): void {
  for (const band of core.windowBands)
    if (core.isWindowBound(band, id)) core.freeBandPage(band, id);
  core.freeBandPage(core.chain.owner, id);
  core.retireVirtual(id);
}

/** Shortens a row whose last page went with its load to what it had before, but not below what the tree owns. A cursor
 * that the load set goes back as well, but never into the tree's part. */
function shorten(core: KvCore, row: LoadedRow, last: number): void {
  const { request } = row;
  const { requests } = core;
  if (requests.find(request.name) !== request) return; // closed meanwhile
  const isTail = last >= 0 && core.pagesOf(request.allocated) === last + 1;
  const left = isTail ? Math.max(row.from, request.protected) : request.allocated;
  const rowEnd = core.pagesOf(left) * core.config.pageSize;
  for (const { index } of core.windowBands) {
    const before = row.cursors[index]!;
    const now = request.cursors[index]!;
    if (now === row.setCursors[index])
      requests.setCursor(request, index, Math.max(before, request.protected));
    else if (now > rowEnd) requests.setCursor(request, index, Math.max(rowEnd, before));
  }
  if (!isTail) return;
  request.pages.length = core.pagesOf(left);
  requests.setAllocated(request, left);
}
