// tokens.free, group.begin, group.end, window.retire, request.finish, request.retract: logical frees.
import type {
  Answer,
  FreedOk,
  KvArgs,
  OperationError,
  RetiredWindow,
} from "../../base/operations.js";
import type { Band } from "../alloc/band.js";
import { takeHostPages } from "../cache/host-eviction.js";
import { reservedPage, reservedSlot } from "../cache/host-loads.js";
import { demandOf, isBeingReceived, shapeOf, submitCopyOut } from "../cache/host-requests.js";
import { invalid, type KvCore, type ReservedFree } from "../core.js";
import { PURPOSES, type Request } from "../requests.js";
import { giveLastState, lastState } from "./checkpoints.js";
import { brokenInsert, insertRow } from "./tree-insert.js";

/** @internal */
export function tokensFree(core: KvCore, args: KvArgs["tokens.free"]): Answer<"tokens.free"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const { from, to, bands } = args;
  const first = core.pagesOf(from);
  const end = core.pagesOf(to);
  const broken = brokenFree(core, request, args, first, end) ?? core.launchOpen();
  if (broken !== null) return { err: broken };
  for (let index = first; index < end; index++) {
    const virtual = request.pages[index]!; // checked: bound
    if (bands === "all") core.freeRowPage(request, index);
    else if (bands === "full") core.freeRowPage(request, index);
    else
      for (const band of core.windowBands)
        if (bands.includes(band.plan.name)) core.freeBandPage(band, virtual);
  }
  if (bands === "all" && to === request.allocated && from <= to) {
    request.pages.length = Math.min(request.pages.length, first);
    core.requests.setAllocated(request, from);
    // A window that retired pages beyond has them before it again when the row grows anew.
    const rowEnd = first * core.config.pageSize;
    for (const { index } of core.windowBands)
      core.requests.setCursor(request, index, Math.min(request.cursors[index]!, rowEnd));
  }
  return { ok: core.freed() };
}

function brokenFree(
  core: KvCore,
  request: Request,
  args: KvArgs["tokens.free"],
  first: number,
  end: number,
): OperationError | null {
  const { req, from, to, bands } = args;
  if (to > core.config.rowTokens) return invalid("beyond_row", { req });
  for (let page = first; page < end; page++) {
    if ((request.pages[page] ?? 0) > 0) continue;
    return invalid("free_of_unbound_page", { req, band: core.chain.owner.plan.name, page });
  }
  if (from > to || (to % core.config.pageSize !== 0 && to !== request.allocated)) {
    return invalid("free_splits_page", { req });
  }
  if (first < Math.floor(request.protected / core.config.pageSize))
    return invalid("free_of_tree_rows", { req });
  const isFull = bands === "all" || bands === "full"; // windows that have an owner id are not reserved
  const reserved = isFull ? reservedPage(core, request, first, end) : null;
  if (reserved !== null || bands === "all") return reserved;
  return bands === "full"
    ? stillWindowed(core, request, first, end)
    : notWindowed(core, request, bands, first, end);
}

function notWindowed(
  core: KvCore,
  request: Request,
  names: readonly string[],
  first: number,
  end: number,
): OperationError | null {
  for (const name of names) {
    const band = core.windowBands.find((member) => member.plan.name === name);
    for (let page = first; page < end; page++) {
      if (band !== undefined && core.isWindowBound(band, request.pages[page]!)) continue;
      return invalid("window_segment_bound", { req: request.name, band: name, page });
    }
  }
  return null;
}

function stillWindowed(
  core: KvCore,
  request: Request,
  first: number,
  end: number,
): OperationError | null {
  for (const band of core.windowBands) {
    for (let page = first; page < end; page++) {
      if (!core.isWindowBound(band, request.pages[page]!)) continue;
      return invalid("window_segment_released", { req: request.name, band: band.plan.name, page });
    }
  }
  return null;
}

/** @internal */
export function groupBegin(core: KvCore): Answer<"group.begin"> {
  if (core.group !== null) return { err: invalid("group_state") };
  core.group = {
    virtual: [],
    slots: [],
    bands: core.chain.bands.map(() => []),
    windows: core.chain.bands.map(() => new Set<number>()),
    reserved: core.chain.bands.map(() => []),
  };
  return { ok: {} };
}

/** @internal */
export function groupEnd(core: KvCore): Answer<"group.end"> {
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const { group, chain } = core;
  if (group === null) return { err: invalid("group_state") };
  core.group = null;
  for (const band of chain.bands)
    freeInCallOrder(core, band, group.bands[band.index]!, group.reserved[band.index]!);
  for (const virtual of group.virtual) core.retireVirtual(virtual);
  for (const slot of group.slots) core.retireSlot(slot);
  return { ok: core.freed() };
}

/** Frees what a group let go of in one band: pages under their ids and, between them, pages that no id names. */
function freeInCallOrder(
  core: KvCore,
  band: Band,
  ids: readonly number[],
  reserved: readonly ReservedFree[],
): void {
  let next = 0;
  for (const { page, behind } of reserved) {
    for (; next < behind; next++) core.freeBandPage(band, ids[next]!); // there were as many
    core.freeReserved(band, page);
  }
  for (; next < ids.length; next++) core.freeBandPage(band, ids[next]!);
}

/** Frees the window rows that fell out of each window; `len` is the number of computed tokens. @internal */
export function windowRetire(core: KvCore, args: KvArgs["window.retire"]): Answer<"window.retire"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const answer: Record<string, RetiredWindow> = {};
  for (const band of core.windowBands)
    answer[band.plan.name] = retire(core, request, band, args.len);
  return { ok: answer };
}

function retire(core: KvCore, request: Request, band: Band, computed: number): RetiredWindow {
  const size = core.config.pageSize;
  const cursor = request.cursors[band.index]!;
  const { window } = band.plan;
  if (window === null) return { cursor, floor: null, freed: [] };
  const floor = retentionFloor(core, request, window);
  // With sharing at least a page stays, so that the last tree node keeps some of its window.
  let threshold = computed - (core.config.prefixSharing ? Math.max(window, size) : window);
  if (floor !== null) threshold = Math.min(threshold, floor);
  const next = Math.max(cursor, Math.floor(threshold / size) * size);
  const start = Math.max(cursor, request.protected);
  const end = Math.min(next / size, request.pages.length); // `len` may lie beyond what the row holds
  for (let index = core.pagesOf(start); index < end; index++) {
    const virtual = request.pages[index] ?? 0;
    if (virtual > 0 && core.isWindowBound(band, virtual)) core.freeBandPage(band, virtual);
  }
  core.requests.setCursor(request, band.index, next);
  const freed = core.lists.bands[band.index]!.take();
  const deferred = core.deferredIn(band);
  return { cursor: next, floor, freed, ...(deferred.length > 0 ? { deferred } : {}) };
}

/** Token position whose window must stay for the latest checkpoint, or null where no floor applies. */
function retentionFloor(core: KvCore, request: Request, window: number): number | null {
  const { prefixSharing, checkpoint, pageSize } = core.config;
  if (!prefixSharing || checkpoint === null || checkpoint === undefined) return null;
  if (checkpoint.strategy === "no_buffer") return null;
  return Math.max(0, Math.floor(((request.checkpoint ?? 0) - window) / pageSize) * pageSize);
}

/** @internal */
export function requestFinish(
  core: KvCore,
  args: KvArgs["request.finish"],
): Answer<"request.finish"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  if (!args.insert) return closeRequest(core, args.req);
  const { key = [] } = args;
  if (args.len > request.allocated) return { err: invalid("beyond_row", { req: args.req }) };
  const last = lastState(core, request, args.len);
  const held = closable(core, args.req);
  const broken =
    "rule" in held && held.rule === "free_outside_reservation"
      ? held
      : brokenInsert(core, request, key, last.len);
  if (broken !== null) return { err: broken };
  const { counts, end } = insertRow(core, request, key, last.len);
  const slot = giveLastState(core, end, last);
  return { ok: { ...closeOpen(core, request, slot), tree: counts } };
}

/** @internal */
export function requestRetract(
  core: KvCore,
  args: KvArgs["request.retract"],
): Answer<"request.retract"> {
  if (args.backup === undefined) return closeRequest(core, args.req);
  const { host } = core;
  const { req, backup } = args;
  const request = closable(core, req);
  if ("code" in request) return { err: request };
  const { kept, places } = shapeOf(core, request);
  if (host.isCopyName(backup)) return { err: invalid("name_state") };
  if (isBeingReceived(core, places)) return { err: invalid("name_state", { req }) };
  const pages = takeHostPages(core, demandOf(core, kept));
  if ("code" in pages) return { err: pages };
  const signal = submitCopyOut(core, backup, places);
  const record = { ...kept, host: pages };
  host.copies.set(backup, { kind: "retract", name: backup, signal, kept: record });
  host.touch();
  return { ok: { ...closeOpen(core, request), host: host.pools.listed(pages) } };
}

/** The request, or the rule that closing it would break. */
function closable(core: KvCore, req: string): Request | OperationError {
  const request = core.requests.find(req);
  if (request === undefined) return invalid("unknown_request", { req });
  const reserved =
    reservedPage(core, request, core.pagesOf(request.protected), request.pages.length) ??
    PURPOSES.map((purpose) => reservedSlot(core, request, purpose)).find((rule) => rule !== null);
  return reserved ?? core.launchOpen() ?? request;
}

/** Frees everything a request holds beyond the tree's part, its slots and its row. */
function closeRequest(core: KvCore, req: string): { ok: FreedOk } | { err: OperationError } {
  const request = closable(core, req);
  if ("code" in request) return { err: request };
  return { ok: closeOpen(core, request) };
}

/** @param given - slot that stays with the tree, 0 = none */
function closeOpen(core: KvCore, request: Request, given = 0): FreedOk {
  core.endedTransfers.push(...core.net.closeHeldOf(request));
  core.tree.locks.dropAll(request.name);
  for (let index = core.pagesOf(request.protected); index < request.pages.length; index++) {
    if (request.pages[index]! > 0) core.freeRowPage(request, index);
  }
  for (const purpose of PURPOSES) {
    for (const slot of core.requests.clearSlots(request, purpose))
      if (slot !== given) core.freeSlot(slot);
  }
  core.requests.close(request);
  return core.freed();
}
