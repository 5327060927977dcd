// Pages of token positions: extending and decoding take them, frees and window retirement give them back.
import type { KvArgs, PageLists, RetiredWindow, TakeOk } from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { append, type Lists, pageLists, sumOf } from "./answers.js";
import { checkBetween, checkNow } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { Faults } from "./refusal.js";
import { dropPage, dropWindowPage, hasFloor, requestNamed } from "./rows.js";
import { take } from "./take.js";
import {
  type FreedUnit,
  ownerOf,
  type Request,
  tokenBandsOf,
  windowsOf,
  type World,
} from "./world.js";

interface Growth {
  readonly request: Request;
  readonly to: number; // tokens
  readonly firstPage: number; // new pages of the row, [firstPage, endPage)
  readonly endPage: number;
  readonly windowFrom: number; // first page that windows get
  readonly hasTail: boolean;
}

/** @internal */
export function extend(world: World, { batch }: KvArgs["tokens.extend"]): TakeOk {
  const { page_size: pageSize } = world.config;
  const lengths = new Map<string, number>(); // a request named twice grows from its first entry's end
  const faults = new Faults();
  const growths: Growth[] = [];
  for (const { req, from, to, tail } of batch) {
    const request = world.requests.get(req);
    if (request === undefined) {
      faults.add("unknown_request", { req });
      continue;
    }
    if (from !== (lengths.get(req) ?? request.allocated))
      faults.add("extend_not_at_length", { req });
    if (to > world.config.row_tokens || to < from) faults.add("beyond_row", { req });
    lengths.set(req, to);
    const firstPage = Math.ceil(from / pageSize);
    const windowFrom =
      tail === undefined ? firstPage : Math.max(firstPage, Math.floor((to - tail) / pageSize));
    const endPage = Math.ceil(to / pageSize);
    growths.push({ request, to, firstPage, endPage, windowFrom, hasTail: tail !== undefined });
  }
  checkBetween(world, faults);
  faults.check();
  return grow(world, growths);
}

/** @internal */
export function decode(world: World, { batch }: KvArgs["tokens.decode"]): TakeOk {
  const { page_size: pageSize } = world.config;
  const lengths = new Map<string, number>();
  const faults = new Faults();
  const growths: Growth[] = [];
  for (const { req, len } of batch) {
    const request = world.requests.get(req);
    if (request === undefined) {
      faults.add("unknown_request", { req });
      continue;
    }
    if (len !== (lengths.get(req) ?? request.allocated) + 1)
      faults.add("extend_not_at_length", { req });
    if (len > world.config.row_tokens) faults.add("beyond_row", { req });
    lengths.set(req, len);
    const firstPage = Math.ceil((len - 1) / pageSize);
    const endPage = Math.ceil(len / pageSize);
    growths.push({ request, to: len, firstPage, endPage, windowFrom: firstPage, hasTail: false });
  }
  checkBetween(world, faults);
  faults.check();
  return grow(world, growths);
}

/** Takes the pages of all growths at once and deals them out in batch, then token order. */
function grow(world: World, growths: readonly Growth[]): TakeOk {
  const owner = ownerOf(world);
  let demand: Readonly<Record<string, number>> = {};
  for (const { firstPage, endPage, windowFrom } of growths) {
    const part: Record<string, number> = { [owner.name]: endPage - firstPage };
    for (const band of windowsOf(world)) part[band.name] = Math.max(0, endPage - windowFrom);
    demand = sumOf(demand, part);
  }
  const { step, pages } = take(world, demand);
  const left = Object.fromEntries(
    tokenBandsOf(world).map((band) => [band.name, [...(pages[band.name] ?? [])]]),
  );
  const got = new Map<string, Lists>();
  for (const growth of growths) {
    const lists = got.get(growth.request.name) ?? {};
    dealOut(world, growth, left, lists);
    got.set(growth.request.name, lists);
  }
  const answer: Record<string, PageLists> = {};
  for (const [req, lists] of got) {
    if (Object.keys(lists).length > 0) answer[req] = pageLists(world, lists);
  }
  return { pages: answer, step };
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
  if (bands === "all" && to >= request.allocated && from < request.allocated) {
    request.allocated = from;
    request.virtual.length = Math.ceil(from / pageSize);
  }
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
    if (page * pageSize < request.protected) faults.add("free_of_tree_rows", { req, page });
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
    for (let page = Math.ceil(from); page < cursor / pageSize; page++)
      units.push(...dropWindowPage(request, band.name, page));
    request.cursors[band.name] = cursor;
    answer[band.name] = { cursor, floor, freed: [] };
  }
  const freed = freeUnits(world, units);
  for (const [name, part] of Object.entries(answer))
    answer[name] = { ...part, freed: toExtents(freed[name] ?? []) };
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
