// host.*: loads from the host, ends of copies, eviction of host copies.
import type { Answer, KvArgs, OperationError } from "../../base/operations.js";
import { invalid, type KvCore } from "../core.js";
import { endParts, lackingOnHost, takeParts } from "../cache/host-backups.js";
import type { Load } from "../cache/host-cache.js";
import { evictHost, takeHostPages } from "../cache/host-eviction.js";
import {
  bindWindow,
  enterRow,
  listPlaces,
  releaseLoad,
  reserveLoad,
  setLoadedCursor,
  settleLoad,
  submitCopyIn,
} from "../cache/host-loads.js";
import { bindPath, lackingOf, publishPath, releasePath, takePath } from "../cache/host-paths.js";
import { demandOf, isBeingReceived, reopen, submitCopyOut } from "../cache/host-requests.js";
import type { Request } from "../requests.js";

/** Copies what a path has on the device and not on the host, parents first. @internal */
export function hostBackup(core: KvCore, args: KvArgs["host.backup"]): Answer<"host.backup"> {
  const { host, tree } = core;
  const { copy, key, len } = args;
  const end = tree.reach(key, len);
  if (end === null) return { err: invalid("no_node_at_len") };
  const { need, places } = lackingOnHost(core, key, len);
  if (host.isCopyName(copy) || isBeingReceived(core, places)) return { err: invalid("name_state") };
  const pages = takeHostPages(core, need, [end]);
  if ("code" in pages) return { err: pages };
  const parts = takeParts(core, key, len, pages);
  const signal = submitCopyOut(core, copy, places);
  host.copies.set(copy, { kind: "backup", name: copy, signal, parts });
  host.touch();
  return { ok: { host: host.pools.listed(pages) } };
}

/** Ends a copy to the host; one that failed gives its host pages back. @internal */
export function hostBackupDone(
  core: KvCore,
  args: KvArgs["host.backup_done"],
): Answer<"host.backup_done"> {
  const { host, chain } = core;
  const copy = host.copies.get(args.copy);
  if (copy?.kind !== "retract" && copy?.kind !== "backup") return { err: invalid("name_state") };
  host.copies.delete(args.copy);
  if (copy.signal !== null) chain.ledger.endCopy(copy.signal);
  const isDone = args.outcome === "ok";
  if (copy.kind === "backup") endParts(core, copy.parts, isDone);
  else if (isDone) host.kept.set(args.copy, copy.kept);
  else host.pools.give(copy.kept.host);
  host.touch();
  return { ok: {} };
}

/** Evicts host copies until so many host pages are free. @internal */
export function hostEvict(core: KvCore, args: KvArgs["host.evict"]): Answer<"host.evict"> {
  const evicted = evictHost(core, core.chain.vector(args.demand));
  if ("code" in evicted) return { err: evicted };
  return { ok: { freed: core.host.pools.listed(evicted.pages), nodes: evicted.nodes } };
}

/** Takes and fixes the device pages of a load. @internal */
export function hostLoadReserve(
  core: KvCore,
  args: KvArgs["host.load_reserve"],
): Answer<"host.load_reserve"> {
  const { chain, host } = core;
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const { key, len = 0 } = args;
  const demand = key === undefined ? chain.vector(args.demand ?? {}) : lackingOf(core, key, len);
  if ("code" in demand) return { err: demand };
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  if (host.loads.has(args.load)) return { err: invalid("name_state") };
  const plan = chain.price(demand);
  if (!("step" in plan)) return { err: plan };
  const taken = chain.take(demand, plan, "host_load");
  const path = key === undefined ? null : takePath(core, key, len);
  const load = reserveLoad(core, args.load, taken, path);
  host.loads.set(args.load, load);
  host.touch();
  return { ok: { pages: core.lists.take(), step: taken.step, ...core.ended() } };
}

/** Names a load's window pages by the owner ids of their positions. @internal */
export function hostLoadBind(
  core: KvCore,
  args: KvArgs["host.load_bind"],
): Answer<"host.load_bind"> {
  const { host } = core;
  const load = host.loads.get(args.load);
  if (load !== undefined && load.path !== null) {
    if (load.isBound) return { err: invalid("name_state") };
    bindPath(core, load, load.path);
    load.isBound = true;
    host.touch();
    return { ok: { bound: core.lists.take() } };
  }
  const size = core.config.pageSize;
  const request = args.req === undefined ? undefined : core.requests.find(args.req);
  if (args.req !== undefined && request === undefined)
    return { err: invalid("unknown_request", { req: args.req }) };
  if (request === undefined) return { err: invalid("unknown_request") };
  const req = request.name;
  const { from } = args;
  // Whole pages are loaded, so what they follow must end with a page.
  if (from !== request.allocated || from % size !== 0)
    return { err: invalid("extend_not_at_length", { req }) };
  if (load !== undefined && from + load.ids.length * size > core.config.rowTokens)
    return { err: invalid("beyond_row", { req }) };
  if (load === undefined || load.isBound) return { err: invalid("name_state") };
  const wrong = windowsMisplaced(core, load, req);
  if (wrong !== null) return { err: wrong };
  bindToRow(core, load, request);
  load.isBound = true;
  host.touch();
  return { ok: { bound: core.lists.take() } };
}

/** `name_state` for a window with more pages than the load has ids: they are for positions that are the load's. */
function windowsMisplaced(core: KvCore, load: Load, req: string): OperationError | null {
  const band = core.windowBands.find(({ index }) => load.windows[index]!.length > load.ids.length);
  return band === undefined ? null : invalid("name_state", { req, band: band.plan.name });
}

/** The row takes the load's ids behind its last page; window pages go to its last positions. Lists owner ids and window
 * pages from the first position that any window gets, window lists aligned with the ids. */
function bindToRow(core: KvCore, load: Load, request: Request): void {
  const { lists, requests } = core;
  const first = core.pagesOf(request.allocated);
  const end = first + load.ids.length;
  enterRow(
    core,
    load,
    request,
    load.ids.map((_, index) => first + index),
  );
  if (load.ids.length > 0) requests.setAllocated(request, end * core.config.pageSize);
  const most = Math.max(0, ...load.windows.map((pages) => pages.length));
  for (let page = end - most; page < end; page++) lists.virtual.add(request.pages[page]!);
  for (const band of core.windowBands) {
    const windows = load.windows[band.index]!;
    const start = end - windows.length;
    if (windows.length > 0) lists.bands[band.index]!.addUnbound(most - windows.length);
    for (const [index, window] of windows.entries()) {
      const id = request.pages[start + index]!; // checked: there is one
      bindWindow(core, band, window, id);
      lists.bands[band.index]!.add(window.page);
    }
    // Positions of this load without the window are behind its cursor, as after an extend with a tail.
    if (windows.length < load.ids.length)
      setLoadedCursor(core, load.row!, band, start * core.config.pageSize); // enterRow set the row
  }
}

/** Whether ids name all that a load reserved; of a load by key only window pages need a bind. */
function isNamed({ isBound, path, windows }: Load): boolean {
  return isBound || (path !== null && windows.every((pages) => pages.length === 0));
}

/** Starts the copy of a load; its pages carry it from now on, and no reservation is left. @internal */
export function hostLoadSubmit(
  core: KvCore,
  args: KvArgs["host.load_submit"],
): Answer<"host.load_submit"> {
  const { host } = core;
  const load = host.loads.get(args.load);
  if (load === undefined || !isNamed(load) || host.isCopyName(args.copy))
    return { err: invalid("name_state") };
  host.loads.delete(args.load);
  const signal = submitCopyIn(core, args.copy, load);
  host.copies.set(args.copy, { kind: "load", name: args.copy, signal, load });
  host.touch();
  return { ok: { pages: listPlaces(core, signal.places) } };
}

/** Puts a retracted request's row back into pages of its own, as the copy from the host fills them. @internal */
export function requestRestore(
  core: KvCore,
  args: KvArgs["request.restore"],
): Answer<"request.restore"> {
  const { chain, host, requests } = core;
  const { req } = args;
  if (requests.find(req) !== undefined) return { err: invalid("row_in_use", { req }) };
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  const kept = host.kept.get(args.copy);
  if (kept === undefined) return { err: invalid("name_state") };
  if (requests.freeRows === 0) return { err: { code: "refused_rows", need: 1, free: 0 } };
  const demand = demandOf(core, kept);
  const plan = chain.price(demand);
  if (!("step" in plan)) return { err: plan };
  const taken = chain.take(demand, plan, "host_load");
  const { request, load } = reopen(core, req, args.copy, kept, taken);
  const pages = core.lists.take();
  const signal = submitCopyIn(core, args.copy, load);
  host.kept.delete(args.copy);
  host.copies.set(args.copy, { kind: "restore", name: args.copy, signal, load, kept });
  host.touch();
  return { ok: { rows: { [req]: request.row }, pages, step: taken.step, ...core.ended() } };
}

/** Gives a load up before its copy. @internal */
export function hostLoadCancel(
  core: KvCore,
  args: KvArgs["host.load_cancel"],
): Answer<"host.load_cancel"> {
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const load = core.host.loads.get(args.load);
  if (load === undefined) return { err: invalid("name_state") };
  core.host.loads.delete(args.load);
  giveUp(core, load);
  core.host.touch();
  return { ok: core.freed() };
}

function giveUp(core: KvCore, load: Load): void {
  releaseLoad(core, load);
  if (load.path !== null) releasePath(core, load.path);
}

/** Ends the copy of a load or of a restored request. @internal */
export function hostLoadDone(
  core: KvCore,
  args: KvArgs["host.load_done"],
): Answer<"host.load_done"> {
  const { host, chain } = core;
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const copy = host.copies.get(args.copy);
  if (copy?.kind !== "load" && copy?.kind !== "restore") return { err: invalid("name_state") };
  host.copies.delete(args.copy);
  if (copy.signal !== null) chain.ledger.endCopy(copy.signal);
  const isLoaded = args.outcome === "ok";
  const { load } = copy;
  if (!isLoaded) giveUp(core, load);
  else if (load.path === null) settleLoad(core, load);
  else {
    publishPath(core, load, load.path);
    releasePath(core, load.path);
  }
  if (copy.kind === "restore") {
    // What was read is no longer needed; what could not be read may be tried again.
    if (isLoaded) host.pools.give(copy.kept.host);
    else host.kept.set(copy.name, copy.kept);
  }
  host.touch();
  return { ok: core.freed() };
}
