// Pages of token positions: extending and decoding take them, frees and window retirement give them back.
import type {
  Demand,
  ExtendEntry,
  KvArgs,
  PageLists,
  RetiredWindow,
  Step,
  TakeOk,
} from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { append, type Lists, pageLists, sumOf } from "./answers.js";
import { checkReserved } from "./fixed.js";
import { checkBetween, checkNow } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { Faults } from "./refusal.js";
import { dropPage, dropWindowPage, forgetLoaded, hasFloor, requestNamed, shorten } from "./rows.js";
import { checkStageLoads, take, type Taken } from "./take.js";
import {
  type FreedUnit,
  ownerOf,
  type Request,
  stateBandOf,
  tokenBandsOf,
  windowsOf,
  type World,
} from "./world.js";

/** New tokens of one row. @internal */
export interface Growth {
  readonly request: Request;
  readonly to: number; // tokens
  readonly firstPage: number; // new pages of the row, [firstPage, endPage)
  readonly endPage: number;
  readonly windowFrom: number; // first page that windows get
  readonly hasTail: boolean;
}

/** @internal */
export function extend(world: World, { batch }: KvArgs["tokens.extend"]): TakeOk {
  return growBatch(world, batch);
}

/** @internal */
export function decode(world: World, { batch }: KvArgs["tokens.decode"]): TakeOk {
  return growBatch(
    world,
    batch.map(({ req, len }) => ({ req, from: len - 1, to: len })),
  );
}

function growBatch(world: World, batch: readonly ExtendEntry[]): TakeOk {
  const lengths = new Map<string, number>(); // a request named twice grows from its first entry's end
  const faults = new Faults();
  const growths: Growth[] = [];
  for (const entry of batch) {
    const { req, from, to, tail } = entry;
    const request = world.requests.get(req);
    if (request === undefined) {
      faults.add("unknown_request", { req });
      continue;
    }
    checkGrowth(world, faults, request, entry, lengths.get(req) ?? request.allocated);
    lengths.set(req, to);
    growths.push(growthOf(world, request, from, to, tail));
  }
  checkBetween(world, faults);
  faults.check();
  const { lists, step } = grow(world, growths);
  const pages: Record<string, PageLists> = {};
  for (const [req, part] of lists) {
    if (Object.keys(part).length > 0) pages[req] = pageLists(world, part);
  }
  return { pages, step };
}

/** `length`: where the row ends before the growth, in tokens. @internal */
export function checkGrowth(
  world: World,
  faults: Faults,
  request: Request,
  { req, from, to }: ExtendEntry,
  length: number,
): void {
  if (from !== length) faults.add("extend_not_at_length", { req: request.name });
  if (to > world.config.row_tokens || to < from) faults.add("beyond_row", { req });
}

/** @internal */
export function growthOf(
  world: World,
  request: Request,
  from: number,
  to: number,
  tail?: number,
): Growth {
  const { page_size: pageSize } = world.config;
  const firstPage = Math.ceil(from / pageSize);
  const windowFrom =
    tail === undefined ? firstPage : Math.max(firstPage, Math.floor((to - tail) / pageSize));
  const endPage = Math.ceil(to / pageSize);
  return { request, to, firstPage, endPage, windowFrom, hasTail: tail !== undefined };
}

/** What a growth got: lists by request, and state slots where some were asked for. @internal */
export interface Grown {
  readonly lists: ReadonlyMap<string, Lists>;
  readonly slots: readonly { readonly slot: number; readonly page: number }[];
  readonly step: Step;
}

/** Takes the pages of all growths at once, with `states` slots, and deals them out in batch, then token order. @internal */
export function grow(world: World, growths: readonly Growth[], states: number = 0): Grown {
  const owner = ownerOf(world);
  const state = stateBandOf(world);
  let demand: Demand = state === null ? {} : { [state.name]: states };
  for (const { firstPage, endPage, windowFrom } of growths) {
    const part: Record<string, number> = { [owner.name]: endPage - firstPage };
    for (const band of windowsOf(world)) part[band.name] = Math.max(0, endPage - windowFrom);
    demand = sumOf(demand, part);
  }
  const { step, pages } = takeFor(world, demand);
  const left = Object.fromEntries(
    tokenBandsOf(world).map((band) => [band.name, [...(pages[band.name] ?? [])]]),
  );
  const lists = new Map<string, Lists>();
  for (const growth of growths) {
    const part = lists.get(growth.request.name) ?? {};
    dealOut(world, growth, left, part);
    lists.set(growth.request.name, part);
  }
  const slots = (state === null ? [] : (pages[state.name] ?? [])).map((page) => ({
    slot: state!.freeIds.shift()!, // pages of a state band, whose ids the take checked
    page,
  }));
  return { lists, slots, step };
}

// Tokens inside a page that is there ask the chain for nothing.
function takeFor(world: World, demand: Demand): Taken {
  if (Object.values(demand).some((count) => count > 0)) return take(world, demand);
  checkStageLoads(world);
  return { step: "no_move", pages: {} };
}

function dealOut(world: World, growth: Growth, left: Record<string, number[]>, lists: Lists): void {
  const { request, to, firstPage, endPage, windowFrom, hasTail } = growth;
  const owner = ownerOf(world);
  for (let page = firstPage; page < endPage; page++) {
    const id = owner.freeIds.shift()!; // the take checked that there are enough ids
    request.virtual[page] = id;
    append(lists, "virtual", id);
    for (const band of tokenBandsOf(world)) {
      const isSkipped = band.role === "window" && page < windowFrom;
      const place = isSkipped ? 0 : left[band.name]!.shift()!; // and enough pages
      append(lists, band.name, place);
      if (isSkipped) continue;
      band.bindings.set(id, place);
      if (band.role === "window") request.windows[band.name]![page] = true; // every window has a list
    }
  }
  request.allocated = to;
  if (!hasTail) return;
  for (const band of windowsOf(world))
    request.cursors[band.name] = windowFrom * world.config.page_size;
}

/** @internal */
export function tokensFree(world: World, args: KvArgs["tokens.free"]): ReturnType<typeof freedOk> {
  const { req, from, to, bands } = args;
  const { page_size: pageSize } = world.config;
  const request = requestNamed(world, req);
  const pages: number[] = [];
  for (let page = Math.ceil(from / pageSize); page < Math.ceil(to / pageSize); page++)
    pages.push(page);
  checkFree(world, request, pages, args);
  const units: FreedUnit[] = [];
  if (bands === "all" || bands === "full") {
    for (const page of pages) units.push(...dropPage(world, request, page));
  } else {
    for (const page of pages)
      for (const band of bands) units.push(...dropWindowPage(request, band, page));
  }
  if (bands === "all" && to >= request.allocated && from < request.allocated)
    shorten(world, request, from);
  forgetLoaded(world, request, units);
  return freedOk(world, freeUnits(world, units));
}

function checkFree(
  world: World,
  request: Request,
  pages: readonly number[],
  { req, from, to, bands }: KvArgs["tokens.free"],
): void {
  const { page_size: pageSize } = world.config;
  const faults = new Faults();
  if (to < from) faults.add("beyond_row", { req });
  for (const page of pages) {
    if (page * pageSize >= request.allocated || (request.virtual[page] ?? 0) === 0)
      faults.add("free_of_unbound_page", { req, band: ownerOf(world).name, page });
    if (page * pageSize < request.protected) faults.add("free_of_tree_rows", { req });
  }
  for (const band of windowsOf(world)) {
    for (const page of pages) {
      const isBound = request.windows[band.name]?.[page] === true;
      if (bands === "full" && isBound)
        faults.add("window_segment_released", { req, band: band.name, page });
      if (Array.isArray(bands) && bands.includes(band.name) && !isBound)
        faults.add("window_segment_bound", { req, band: band.name, page });
    }
  }
  if (to % pageSize !== 0 && to !== request.allocated) faults.add("free_splits_page", { req });
  if (!Array.isArray(bands)) {
    const { name } = ownerOf(world);
    const units = pages.map((page) => ({ band: name, id: request.virtual[page] ?? 0 }));
    checkReserved(world, request, units, faults);
  }
  checkBetween(world, faults);
  faults.check();
}

/** @internal */
export function windowRetire(
  world: World,
  { req, len }: KvArgs["window.retire"],
): Record<string, RetiredWindow> {
  const { page_size: pageSize } = world.config;
  const request = requestNamed(world, req);
  checkNow(world);
  const answer: Record<string, RetiredWindow> = {};
  const units: FreedUnit[] = [];
  for (const band of windowsOf(world)) {
    const floor = floorOf(world, request, band.window);
    const cursor = retiredCursor(world, request, band.name, band.window, len, floor);
    const from = Math.max(request.cursors[band.name] ?? 0, request.protected) / pageSize;
    const end = Math.min(cursor / pageSize, request.virtual.length); // a row holds no more
    for (let page = Math.ceil(from); page < end; page++)
      units.push(...dropWindowPage(request, band.name, page));
    request.cursors[band.name] = cursor;
    answer[band.name] = { cursor, floor, freed: [] };
  }
  const { freed, deferred } = freeUnits(world, units);
  for (const [name, part] of Object.entries(answer)) {
    const waiting = deferred[name];
    answer[name] = {
      ...part,
      freed: toExtents(freed[name] ?? []),
      ...(waiting === undefined ? {} : { deferred: toExtents(waiting) }),
    };
  }
  return answer;
}

// The position whose window must be kept: a match lands on the latest checkpoint.
function floorOf(world: World, request: Request, window: number | null): number | null {
  const { page_size: pageSize } = world.config;
  if (!hasFloor(world) || window === null) return null;
  return Math.max(0, Math.floor(((request.checkpoint ?? 0) - window) / pageSize) * pageSize);
}

function retiredCursor(
  world: World,
  request: Request,
  name: string,
  window: number | null,
  len: number,
  floor: number | null,
): number {
  const { page_size: pageSize, prefix_sharing: isSharing } = world.config;
  const start = Math.max(request.cursors[name] ?? 0, request.protected);
  if (window === null) return start;
  const kept = isSharing === true ? Math.max(window, pageSize) : window;
  const threshold = Math.min(len - kept, floor ?? Infinity);
  return Math.max(start, Math.floor(threshold / pageSize) * pageSize);
}
