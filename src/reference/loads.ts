// Loads from the host: reserved, bound to ids, submitted as a copy, done; and the restoring of a retracted request.
import type { Demand, FreedOk, KvArgs, KvOk } from "../base/operations.js";
import { append, type Lists, pageLists } from "./answers.js";
import { isCopyKnown, submit } from "./backup.js";
import { checkBetween } from "./forwards.js";
import { type Freed, freedOk, freeUnits } from "./frees.js";
import { giveHostPages } from "./host-pool.js";
import { dropWorkLocks, lockPath } from "./locks.js";
import { Faults, invalid, Refusal } from "./refusal.js";
import { dropPage, openRequest } from "./rows.js";
import { takeSlots } from "./slots.js";
import { take } from "./take.js";
import { isOnDevice, labelsOf, pathTo, reachedBy, splitAt, walk } from "./tree.js";
import {
  type Band,
  bandNamed,
  type Copy,
  type FreedUnit,
  type Load,
  type LoadPart,
  ownerOf,
  type Request,
  type SavedRequest,
  stateBandOf,
  type TreeNode,
  windowsOf,
  type World,
} from "./world.js";

/** @internal */
export function loadReserve(
  world: World,
  args: KvArgs["host.load_reserve"],
): KvOk["host.load_reserve"] {
  const faults = new Faults();
  checkBetween(world, faults);
  const labels = args.key === undefined ? null : labelsOf(args.key);
  const path = labels === null ? null : pathTo(world, labels, args.len ?? 0);
  if (labels !== null && path === null) faults.add("no_node_at_len");
  if (isLoadKnown(world, args.load)) faults.add("name_state");
  faults.check();
  const wanted =
    path === null ? positionsOf(args.demand ?? {}) : lacking(world, labels ?? [], path);
  const demand = Object.fromEntries(
    Object.entries(wanted).map(([name, list]) => [name, list.length]),
  );
  const { step, pages } = take(world, demand, "host_load");
  const lists: Lists = {};
  const parts: LoadPart[] = [];
  const virtual: number[] = [];
  for (const band of world.bands) {
    const got = pages[band.name] ?? [];
    const ids = got.map((page) => takeId(band, page));
    if (band.role === "owner") virtual.push(...ids);
    if (band.role !== "window") append(lists, band.role === "owner" ? "virtual" : "slots", ...ids);
    append(lists, band.name, ...got);
    const slots = band.role === "state" ? ids : [];
    if (got.length > 0)
      parts.push({ band: band.name, positions: wanted[band.name] ?? [], pages: got, slots });
  }
  const reservedBands = parts.map(({ band }) => band);
  const target = labels === null ? null : labels.slice(0, args.len);
  const nothing = { req: null, from: 0, isBound: false, cursors: {} };
  world.loads.push({ name: args.load, path: target, parts, virtual, ...nothing, reservedBands });
  if (path !== null) {
    lockPath(world, path, args.load, "load");
    world.locks.at(-1)?.hostNodes.push(...path.map(({ id }) => id));
  }
  return { pages: pageLists(world, lists), step };
}

// The id of a page that is taken: the oldest free one; a window page waits for its owner's.
function takeId(band: Band, page: number): number {
  if (band.role === "window") {
    band.reserved.push(page);
    return 0;
  }
  const id = band.freeIds.shift()!; // the take checked that there are enough
  band.bindings.set(id, page);
  return id;
}

function isLoadKnown(world: World, name: string): boolean {
  return (
    world.loads.some((load) => load.name === name) ||
    world.copies.some(({ work }) => work.kind === "load" && work.load.name === name)
  );
}

function positionsOf(demand: Demand): Record<string, number[]> {
  return Object.fromEntries(
    Object.entries(demand).map(([name, count]) => [
      name,
      Array.from({ length: count }, (_, i) => i),
    ]),
  );
}

// What the path lacks on the device: full pages, those of the last tokens of each window, the state at its end.
function lacking(
  world: World,
  labels: readonly string[],
  path: readonly TreeNode[],
): Record<string, number[]> {
  const { page_size: pageSize } = world.config;
  const end = path.at(-1)?.to ?? 0;
  for (const band of windowsOf(world)) {
    if (band.window === null) continue;
    const from = Math.floor((end - band.window) / pageSize) * pageSize;
    if (from > 0) splitAt(world, labels.slice(0, end), from);
  }
  const whole = walk(world, labels.slice(0, end)).map(({ node }) => node);
  const wanted: Record<string, number[]> = {};
  for (const band of world.bands) {
    const nodes = reachedBy(world, whole, band.name).filter(
      (node) => !isOnDevice(world, node, band.name),
    );
    if (nodes.some((node) => node.host[band.name] === undefined && band.role !== "state"))
      invalid("no_node_at_len");
    wanted[band.name] = nodes.flatMap((node) => {
      if (band.role === "state") return node.host[band.name] === undefined ? [] : [node.to];
      return Array.from(
        { length: (node.to - node.from) / pageSize },
        (_, i) => node.from / pageSize + i,
      );
    });
  }
  return wanted;
}

/** @internal */
export function loadBind(world: World, args: KvArgs["host.load_bind"]): KvOk["host.load_bind"] {
  const load = world.loads.find(({ name }) => name === args.load);
  const faults = new Faults();
  const request = args.req === undefined ? undefined : world.requests.get(args.req);
  if (args.req !== undefined && request === undefined)
    faults.add("unknown_request", { req: args.req });
  if (load?.path === null && request !== undefined) {
    const to = (args.from ?? 0) + load.virtual.length * world.config.page_size;
    if (args.from !== request.allocated) faults.add("extend_not_at_length", { req: request.name });
    if (to > world.config.row_tokens) faults.add("beyond_row", { req: request.name });
  }
  if (load === undefined || load.isBound) faults.add("name_state");
  if (load?.path === null && args.req === undefined) faults.add("name_state");
  faults.check();
  if (load === undefined) invalid("name_state");
  const bound: Required<FreedUnit>[] = [];
  for (const band of windowsOf(world)) bindWindow(world, load, band, bound);
  load.isBound = true;
  load.reservedBands = load.reservedBands.filter(
    (name) => bandNamed(world, name).role !== "window",
  );
  if (request !== undefined) joinRow(world, load, request, args.from ?? 0);
  const order = load.path === null ? load.virtual : bound.map(({ id }) => id);
  return { bound: pageLists(world, boundLists(world, bound, [...new Set(order)])) };
}

function bindWindow(world: World, load: Load, band: Band, bound: Required<FreedUnit>[]): void {
  const part = load.parts.find((candidate) => candidate.band === band.name);
  if (part === undefined) return;
  const ids =
    load.path === null
      ? load.virtual.slice(load.virtual.length - part.pages.length)
      : part.positions.map((position) => idAtPosition(world, load, position));
  part.pages.forEach((page, index) => {
    const id = ids[index]!; // as many as pages
    band.reserved = band.reserved.filter((other) => other !== page);
    band.bindings.set(id, page);
    bound.push({ band: band.name, id, page });
  });
}

// By id: the ids that some window got, and each window's pages under them, 0 where it got none.
function boundLists(
  world: World,
  bound: readonly Required<FreedUnit>[],
  order: readonly number[],
): Lists {
  const lists: Lists = {};
  const ids = order.filter((id) => bound.some((unit) => unit.id === id));
  append(lists, "virtual", ...ids);
  for (const { name } of windowsOf(world)) {
    const placed = bound.filter(({ band }) => band === name);
    if (placed.length === 0) continue;
    for (const id of ids) append(lists, name, placed.find((unit) => unit.id === id)?.page ?? 0);
  }
  return lists;
}

// The owner's id of a page of the path: the node's, or the one the load has for it.
function idAtPosition(world: World, load: Load, position: number): number {
  const full = load.parts.find(({ band }) => band === ownerOf(world).name);
  const at = full?.positions.indexOf(position) ?? -1;
  if (at >= 0) return load.virtual[at]!; // one id a full page
  const start = position * world.config.page_size;
  const step = walk(world, load.path ?? []).find(
    ({ node }) => node.from <= start && start < node.to,
  );
  return step?.node.ids?.[(start - step.node.from) / world.config.page_size] ?? 0;
}

// The row takes the ids of a load that states a demand; its states join the main ones.
function joinRow(world: World, load: Load, request: Request, from: number): void {
  load.req = request.name;
  load.from = from;
  const first = Math.ceil(from / world.config.page_size);
  load.virtual.forEach((id, index) => {
    request.virtual[first + index] = id;
    for (const band of windowsOf(world)) {
      request.windows[band.name]![first + index] = band.bindings.has(id); // every window has a list
    }
  });
  const { page_size: pageSize } = world.config;
  for (const { name } of windowsOf(world)) {
    const bound = load.parts.find(({ band }) => band === name)?.pages.length ?? 0;
    if (bound === load.virtual.length) continue;
    load.cursors[name] = request.cursors[name] ?? 0;
    request.cursors[name] = (first + load.virtual.length - bound) * pageSize; // as after a tail
  }
  request.allocated = from + load.virtual.length * pageSize;
  for (const { slots } of load.parts) request.slots.main.push(...slots);
}

/** @internal */
export function loadSubmit(
  world: World,
  args: KvArgs["host.load_submit"],
): KvOk["host.load_submit"] {
  const load = world.loads.find(({ name }) => name === args.load);
  const hasWindows = load?.parts.some(({ band }) => bandNamed(world, band).role === "window");
  if (load === undefined || (hasWindows === true && !load.isBound)) invalid("name_state");
  if (isCopyKnown(world, args.copy)) invalid("name_state");
  world.loads = world.loads.filter((other) => other !== load);
  const lists: Lists = {};
  for (const part of load.parts) append(lists, part.band, ...placesNow(world, load, part));
  load.reservedBands = [];
  if (load.path !== null) enterTree(world, load);
  return { pages: submit(world, args.copy, "in", lists, { kind: "load", load }) };
}

function placesNow(world: World, load: Load, part: LoadPart): number[] {
  const band = bandNamed(world, part.band);
  if (band.role === "owner") return load.virtual.map((id) => band.bindings.get(id) ?? 0);
  if (band.role === "state") return part.slots.map((id) => band.bindings.get(id) ?? 0);
  const count = part.pages.length;
  const ids =
    load.path === null
      ? load.virtual.slice(load.virtual.length - count)
      : part.positions.map((position) => idAtPosition(world, load, position));
  return ids.map((id) => band.bindings.get(id) ?? 0);
}

// The nodes of the path have what the load brings.
function enterTree(world: World, load: Load): void {
  const { page_size: pageSize } = world.config;
  for (const { node } of walk(world, load.path ?? [])) {
    for (const part of load.parts) {
      const { role } = bandNamed(world, part.band);
      if (role === "state") {
        if (part.positions.includes(node.to) && node.state === null)
          node.state = part.slots[0] ?? null;
      } else if (part.positions.includes(node.from / pageSize)) {
        if (role === "window") node.windows[part.band] = true;
        else node.ids = idsFrom(load, part, node.from / pageSize, node.to / pageSize);
      }
    }
  }
}

function idsFrom(load: Load, part: LoadPart, first: number, end: number): number[] {
  return load.virtual.filter((_, index) => {
    const position = part.positions[index] ?? -1;
    return position >= first && position < end;
  });
}

/** @internal */
export function loadCancel(world: World, args: KvArgs["host.load_cancel"]): FreedOk {
  const load = world.loads.find(({ name }) => name === args.load);
  if (load === undefined) invalid("name_state");
  const faults = new Faults();
  checkBetween(world, faults);
  faults.check();
  world.loads = world.loads.filter((other) => other !== load);
  dropWorkLocks(world, load.name);
  return freedOk(world, freeLoad(world, load));
}

/** @internal */
export function loadDone(world: World, { copy: name, outcome }: KvArgs["host.load_done"]): FreedOk {
  const copy = world.copies.find((candidate) => candidate.name === name);
  if (copy?.direction !== "in") invalid("name_state");
  if (outcome === "failed") {
    const faults = new Faults();
    checkBetween(world, faults);
    faults.check();
  }
  world.copies = world.copies.filter((other) => other !== copy);
  const { work } = copy;
  if (work.kind === "load") dropWorkLocks(world, work.load.name);
  if (work.kind === "restore") giveHostPages(world, work.saved.hostPages);
  if (outcome === "ok" || work.kind !== "load") return { freed: {} };
  return freedOk(world, freeLoad(world, work.load));
}

// All that a load took, by position. Of a row it goes only while the row still has it and no tree does.
function freeLoad(world: World, load: Load): Freed {
  const units: FreedUnit[] = [];
  const state = stateBandOf(world);
  const request = load.req === null ? undefined : world.requests.get(load.req);
  if (load.path !== null) units.push(...leaveTree(world, load));
  else if (load.req === null) units.push(...unboundUnits(world, load));
  else if (request !== undefined) units.push(...leaveRow(world, load, request));
  for (const { slots } of load.parts) {
    for (const id of slots) {
      const isHeld = load.req === null || request?.slots.main.includes(id) === true;
      if (state === null || !isHeld || load.path !== null) continue;
      units.push({ band: state.name, id });
      if (request !== undefined)
        request.slots.main = request.slots.main.filter((slot) => slot !== id);
    }
  }
  return freeUnits(world, units);
}

function unboundUnits(world: World, load: Load): FreedUnit[] {
  const units: FreedUnit[] = [];
  for (const part of load.parts) {
    const band = bandNamed(world, part.band);
    if (band.role === "window")
      units.push(...part.pages.map((page) => ({ band: band.name, id: 0, page })));
  }
  units.push(...load.virtual.map((id) => ({ band: ownerOf(world).name, id })));
  return units;
}

function leaveRow(world: World, load: Load, request: Request): FreedUnit[] {
  const { page_size: pageSize } = world.config;
  const first = Math.ceil(load.from / pageSize);
  const end = load.from + load.virtual.length * pageSize;
  const units: FreedUnit[] = [];
  load.virtual.forEach((id, index) => {
    const page = first + index;
    if (request.virtual[page] === id && page * pageSize >= request.protected)
      units.push(...dropPage(world, request, page));
  });
  if (request.allocated === end) {
    request.allocated = Math.max(load.from, request.protected);
    request.virtual.length = Math.ceil(request.allocated / pageSize);
    Object.assign(request.cursors, load.cursors);
  }
  return units;
}

// A load of a path that is given up: the nodes are on the host alone again.
function leaveTree(world: World, load: Load): FreedUnit[] {
  const units: FreedUnit[] = [];
  const { page_size: pageSize } = world.config;
  const nodes = walk(world, load.path ?? []).map(({ node }) => node);
  for (const part of load.parts) {
    const band = bandNamed(world, part.band);
    if (band.role === "state") units.push(...part.slots.map((id) => ({ band: band.name, id })));
    else if (band.role === "owner")
      units.push(...load.virtual.map((id) => ({ band: band.name, id })));
    else if (!load.isBound)
      units.push(...part.pages.map((page) => ({ band: band.name, id: 0, page })));
    else
      units.push(
        ...part.positions.map((at) => ({ band: band.name, id: idAtPosition(world, load, at) })),
      );
    for (const node of nodes) {
      if (band.role === "state" && part.slots.includes(node.state ?? -1)) node.state = null;
      if (band.role === "state" || !part.positions.includes(node.from / pageSize)) continue;
      if (band.role === "window") node.windows[band.name] = false;
      else if (load.virtual.includes(node.ids?.[0] ?? -1)) node.ids = null;
    }
  }
  return units;
}

/** @internal */
export function restore(
  world: World,
  { req, copy: name }: KvArgs["request.restore"],
): KvOk["request.restore"] {
  const saved = world.saved.get(name);
  const faults = new Faults();
  if (world.requests.has(req)) faults.add("row_in_use", { req });
  checkBetween(world, faults);
  if (saved === undefined) faults.add("name_state");
  faults.check();
  if (saved === undefined) invalid("name_state");
  if (world.freeRows.length === 0) throw new Refusal({ code: "refused_rows", need: 1, free: 0 });
  const owner = ownerOf(world);
  const state = stateBandOf(world);
  const count = (flags: readonly boolean[]): number => flags.filter((isThere) => isThere).length;
  const demand: Record<string, number> = { [owner.name]: count(saved.full) };
  if (state !== null) demand[state.name] = saved.states;
  for (const band of windowsOf(world)) demand[band.name] = count(saved.windows[band.name] ?? []);
  const { step, pages } = take(world, demand, "host_load");
  const request = openRequest(world, req);
  world.marked = world.marked.filter((row) => row !== request.row); // it is written whole
  request.allocated = saved.allocated;
  request.cursors = { ...saved.cursors };
  const lists = fillRow(world, request, saved, pages);
  const slots = (state === null ? [] : (pages[state.name] ?? [])).map((page) => ({
    slot: state!.freeIds.shift()!, // pages of a state band, whose ids the take checked
    page,
  }));
  takeSlots(world, request, "main", slots);
  append(lists, "slots", ...slots.map(({ slot }) => slot));
  if (state !== null) append(lists, state.name, ...slots.map(({ page }) => page));
  world.saved.delete(name);
  const work: Copy["work"] = { kind: "restore", saved };
  const bound = Object.fromEntries(
    world.bands.map((band) => [band.name, [...(pages[band.name] ?? [])]]),
  );
  submit(world, name, "in", bound, work);
  return { rows: { [req]: request.row }, pages: pageLists(world, lists), step };
}

function fillRow(
  world: World,
  request: Request,
  saved: SavedRequest,
  pages: Readonly<Record<string, readonly number[]>>,
): Lists {
  const owner = ownerOf(world);
  const left = Object.fromEntries(Object.entries(pages).map(([name, list]) => [name, [...list]]));
  const lists: Lists = {};
  saved.full.forEach((isThere, page) => {
    const id = isThere ? owner.freeIds.shift()! : 0; // the take checked that there are enough
    request.virtual[page] = id;
    append(lists, "virtual", id);
    for (const band of [...windowsOf(world), owner]) {
      const isBound = band === owner ? isThere : saved.windows[band.name]?.[page] === true;
      const place = isBound ? left[band.name]!.shift()! : 0; // as many as are there
      append(lists, band.name, place);
      if (isBound) band.bindings.set(id, place);
      if (band !== owner) request.windows[band.name]![page] = isBound; // every window has a list
    }
  });
  return lists;
}
