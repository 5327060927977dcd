// Loads from the host: reserved, bound to ids, submitted as a copy. How they end stands in load-ends.
import type { Demand, KvArgs, KvOk } from "../base/operations.js";
import { append, type Lists, pageLists, appendAll } from "./answers.js";
import { isCopyKnown, submit } from "./backup.js";
import { checkBetween } from "./forwards.js";
import { lockPath } from "./locks.js";
import { Faults, invalid } from "./refusal.js";
import { take } from "./take.js";
import { isOnDevice, labelsOf, pathTo, reachedBy, splitAt, walk, firstOf } from "./tree.js";
import {
  type Band,
  bandNamed,
  type FreedUnit,
  type Load,
  type LoadPart,
  type LoadUnit,
  ownerOf,
  type Request,
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
  const labels = args.key === undefined ? null : labelsOf(world, args.key);
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
  for (const band of world.bands) {
    const got = pages[band.name] ?? [];
    if (got.length === 0) continue;
    const positions = wanted[band.name] ?? [];
    const units = got.map((page, index): LoadUnit => {
      return { position: positions[index] ?? 0, id: takeId(band, page), page };
    });
    const ids = units.map(({ id }) => id);
    if (band.role !== "window") appendAll(lists, band.role === "owner" ? "virtual" : "slots", ids);
    appendAll(lists, band.name, got);
    parts.push({ band: band.name, units });
  }
  const isFixed = ({ band }: LoadPart): boolean =>
    world.stages === null || bandNamed(world, band).role === "window";
  const reservedBands = parts.filter(isFixed).map(({ band }) => band);
  const target = labels === null ? null : firstOf(world, labels, args.len ?? 0);
  const nothing = { req: null, from: 0, isBound: false, cursors: {} };
  world.loads.push({ name: args.load, path: target, parts, ...nothing, reservedBands });
  if (path !== null) {
    const whole = pathTo(world, labels ?? [], args.len ?? 0) ?? path; // nodes were cut where windows begin
    lockPath(world, whole, args.load, "load");
    const sources = whole.filter((node) => isSource(world, node, wanted));
    world.locks.at(-1)?.hostNodes.push(...sources.map(({ id }) => id));
  }
  return { pages: pageLists(world, lists), step };
}

// Whether a load reads host copies of a node, given the positions that it brings.
function isSource(
  world: World,
  { from, to }: TreeNode,
  wanted: Readonly<Record<string, readonly number[]>>,
): boolean {
  const { page_size: pageSize } = world.config;
  return world.bands.some(({ name, role }) =>
    (wanted[name] ?? []).some((position) => {
      if (role === "state") return position === to;
      return from <= position * pageSize && position * pageSize < to;
    }),
  );
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
    const inside = path.find((node) => node.from < from && from < node.to);
    if (inside !== undefined && !isOnDevice(world, inside, band.name))
      splitAt(world, firstOf(world, labels, end), from);
  }
  const whole = walk(world, firstOf(world, labels, end)).map(({ node }) => node);
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

/** What a load holds of a band. @internal */
export function unitsOfBand(load: Load, band: string): readonly LoadUnit[] {
  return load.parts.find((part) => part.band === band)?.units ?? [];
}

/** Ids of the full pages that a load took. @internal */
export function loadedIds(world: World, load: Load): number[] {
  return unitsOfBand(load, ownerOf(world).name).map(({ id }) => id);
}

/** @internal */
export function loadBind(world: World, args: KvArgs["host.load_bind"]): KvOk["host.load_bind"] {
  const load = world.loads.find(({ name }) => name === args.load);
  const faults = new Faults();
  const request = args.req === undefined ? undefined : world.requests.get(args.req);
  if (args.req !== undefined && request === undefined)
    faults.add("unknown_request", { req: args.req });
  if (load?.path === null && request !== undefined) {
    const to = (args.from ?? 0) + loadedIds(world, load).length * world.config.page_size;
    if (args.from !== request.allocated) faults.add("extend_not_at_length", { req: request.name });
    if (to > world.config.row_tokens) faults.add("beyond_row", { req: request.name });
  }
  if (load === undefined || load.isBound) faults.add("name_state");
  if (load?.path === null && args.req === undefined) faults.add("name_state");
  const unnamed = load?.path === null ? windowWithoutIds(world, load) : undefined;
  if (unnamed !== undefined && request !== undefined)
    faults.add("name_state", { req: request.name, band: unnamed.name });
  faults.check();
  if (load === undefined) invalid("name_state");
  const bound: Required<FreedUnit>[] = [];
  for (const band of windowsOf(world)) bindWindow(world, load, band, bound);
  load.isBound = true;
  load.reservedBands = load.reservedBands.filter(
    (name) => bandNamed(world, name).role !== "window",
  );
  if (request !== undefined && load.path === null) joinRow(world, load, request, args.from ?? 0);
  const order = load.path === null ? loadedIds(world, load) : bound.map(({ id }) => id);
  return { bound: pageLists(world, boundLists(world, load, bound, [...new Set(order)])) };
}

// A window of which the load has more pages than ids to bind them to.
function windowWithoutIds(world: World, load: Load): Band | undefined {
  const ids = loadedIds(world, load).length;
  return windowsOf(world).find(({ name }) => unitsOfBand(load, name).length > ids);
}

// A page whose position has another one meanwhile stays without an id.
function bindWindow(world: World, load: Load, band: Band, bound: Required<FreedUnit>[]): void {
  const units = unitsOfBand(load, band.name);
  const ids = loadedIds(world, load);
  const own = ids.slice(ids.length - units.length);
  units.forEach((unit, index) => {
    const id = load.path === null ? own[index]! : idAtPosition(world, load, unit.position); // as many ids as pages
    if (id === 0 || band.bindings.has(id)) return;
    band.reserved = band.reserved.filter((other) => other !== unit.page);
    band.bindings.set(id, unit.page);
    unit.id = id;
    bound.push({ band: band.name, id, page: unit.page });
  });
}

// By id: the ids that some window got, and the pages under them of each window that the load brings, 0 where it got none.
function boundLists(
  world: World,
  load: Load,
  bound: readonly Required<FreedUnit>[],
  order: readonly number[],
): Lists {
  const lists: Lists = {};
  const ids = order.filter((id) => bound.some((unit) => unit.id === id));
  appendAll(lists, "virtual", ids);
  for (const { name } of windowsOf(world)) {
    const placed = bound.filter(({ band }) => band === name);
    if (unitsOfBand(load, name).length === 0) continue;
    for (const id of ids) append(lists, name, placed.find((unit) => unit.id === id)?.page ?? 0);
  }
  return lists;
}

// The owner's id of a page of the path: the node's, or the one the load has for it.
function idAtPosition(world: World, load: Load, position: number): number {
  const start = position * world.config.page_size;
  const step = walk(world, load.path ?? []).find(
    ({ node }) => node.from <= start && start < node.to,
  );
  const ofNode = step?.node.ids?.[(start - step.node.from) / world.config.page_size];
  const own = unitsOfBand(load, ownerOf(world).name).find((unit) => unit.position === position);
  return ofNode ?? own?.id ?? 0;
}

// The row takes the ids of a load that states a demand; its states join the main ones.
function joinRow(world: World, load: Load, request: Request, from: number): void {
  load.req = request.name;
  load.from = from;
  const { page_size: pageSize } = world.config;
  const first = Math.ceil(from / pageSize);
  const ids = loadedIds(world, load);
  ids.forEach((id, index) => {
    request.virtual[first + index] = id;
    for (const band of windowsOf(world)) {
      request.windows[band.name]![first + index] = band.bindings.has(id); // every window has a list
    }
  });
  for (const { name } of windowsOf(world)) {
    const bound = unitsOfBand(load, name).length;
    if (bound === ids.length) continue;
    const after = (first + ids.length - bound) * pageSize; // as after a tail
    load.cursors[name] = { before: request.cursors[name] ?? 0, after };
    request.cursors[name] = after;
  }
  request.allocated = from + ids.length * pageSize;
  for (const { band, units } of load.parts) {
    if (bandNamed(world, band).role === "state")
      request.slots.main.push(...units.map(({ id }) => id));
  }
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
  for (const { band: name, units } of load.parts) {
    const band = bandNamed(world, name);
    appendAll(
      lists,
      name,
      units.map(({ id, page }) => band.bindings.get(id) ?? page),
    );
  }
  load.reservedBands = [];
  return { pages: submit(world, args.copy, "in", lists, { kind: "load", load }) };
}
