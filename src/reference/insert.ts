// `tree.insert`: a row's whole pages become nodes, or give way to the pages of nodes that are there.
import type { Demand, FreedOk, KvArgs, TreeCounts } from "../base/operations.js";
import { checkBetween } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { dropOwnLock, lockPath } from "./locks.js";
import { Faults } from "./refusal.js";
import { dropWindowPage, forgetLoaded, requestNamed } from "./rows.js";
import { isOnDevice, labelsOf, pathTo, reachOf, splitAt, touch, walk } from "./tree.js";
import {
  ascending,
  type Band,
  type FreedUnit,
  ownerOf,
  type Request,
  stateBandOf,
  type TreeNode,
  windowsOf,
  type World,
} from "./world.js";
import { append as appendTo } from "../base/append.js";

/** What an insertion did. @internal */
export interface Inserted {
  readonly counts: TreeCounts;
  readonly units: readonly FreedUnit[]; // duplicates, to be freed
}

/** @internal */
export function treeInsert(
  world: World,
  { req, key, len }: KvArgs["tree.insert"],
): TreeCounts & FreedOk {
  const request = requestNamed(world, req);
  const labels = labelsOf(world, key);
  const faults = new Faults();
  checkInsert(world, request, labels, len, faults);
  checkBetween(world, faults);
  faults.check();
  const { counts, units } = insert(world, request, labels, len);
  return { ...counts, ...freedOk(world, freeUnits(world, units)) };
}

/** @internal */
export function checkInsert(
  world: World,
  request: Request,
  labels: readonly string[],
  len: number,
  faults: Faults,
): void {
  const { page_size: pageSize } = world.config;
  const req = request.name;
  if (len > request.allocated) faults.add("beyond_row", { req });
  const pages = Math.floor(len / pageSize);
  for (let page = 0; page < Math.min(pages, labels.length); page++) {
    if ((request.virtual[page] ?? 0) === 0)
      faults.add("free_of_unbound_page", { req, band: ownerOf(world).name, page });
  }
  const path = request.labels.slice(0, Math.min(pages, labels.length));
  const isOnPath = path.every((label, page) => label === labels[page]);
  const isNamed = pages <= labels.length;
  if (!isOnPath || !isNamed) faults.add("no_node_at_len", { req });
}

/** Inserts the row's first whole pages up to `len`, which was checked. @internal */
export function insert(
  world: World,
  request: Request,
  labels: readonly string[],
  len: number,
): Inserted {
  const { page_size: pageSize } = world.config;
  const path = labels.slice(0, Math.floor(len / pageSize));
  const end = path.length * pageSize;
  const rehomed: Record<string, number> = {};
  const result = { newPages: 0, duplicates: 0, units: [] as FreedUnit[], rehomed };
  world.uses += 1;
  splitAt(world, path, reachOf(walk(world, path)));
  splitWhereWindowsBegin(world, request, path);
  appendTo(result.units, leftBehind(world, request, end));
  for (const { node } of walk(world, path)) {
    if (node.ids === null) result.newPages += giveDevice(world, request, node);
    else if (node.to > request.protected) yieldTo(world, request, node, result);
  }
  result.newPages += growPath(world, request, path);
  forgetLoaded(world, request, result.units);
  const nodes = pathTo(world, path, end) ?? [];
  touch(world, nodes);
  if (end > request.protected) {
    request.protected = end;
    for (const { name } of windowsOf(world))
      request.cursors[name] = Math.max(request.cursors[name] ?? 0, end);
    request.labels = path;
    dropOwnLock(world, request.name);
    lockPath(world, nodes, request.name, "own");
  }
  const { newPages, duplicates, units } = result;
  return { counts: { new_pages: newPages, duplicates, rehomed: inOrder(world, rehomed) }, units };
}

function inOrder(world: World, rehomed: Record<string, number>): Demand {
  const names = windowsOf(world).map(({ name }) => name);
  return Object.fromEntries(
    names.filter((name) => (rehomed[name] ?? 0) > 0).map((name) => [name, rehomed[name] ?? 0]),
  );
}

// Where a node without a window begins or ceases to get the row's pages of it, beyond the protected ones, it is cut.
function splitWhereWindowsBegin(world: World, request: Request, path: readonly string[]): void {
  const { page_size: pageSize } = world.config;
  const nodes = walk(world, path).map(({ node }) => node);
  const cuts: number[] = [];
  for (const band of windowsOf(world)) {
    for (const node of nodes.filter((other) => !isOnDevice(world, other, band.name))) {
      const first = Math.max(node.from, request.protected) / pageSize;
      for (let page = first + 1; page < node.to / pageSize; page++) {
        const [before, after] = [page - 1, page].map((at) => gets(world, request, node, band, at));
        if (before !== after) cuts.push(page * pageSize);
      }
    }
  }
  for (const at of cuts) splitAt(world, path, at);
}

// Whether a node that lacks a window gets the row's page of it at a position. It takes no other where one is still bound
// under its own id: a load brings that page, or it waits to be freed.
function gets(world: World, request: Request, node: TreeNode, band: Band, page: number): boolean {
  const id = node.ids?.[page - node.from / world.config.page_size];
  const isOccupied = id !== undefined && band.bindings.has(id);
  return brings(world, request, band.name, page) && !isOccupied;
}

// Page numbers at which the row begins or ceases to have a window's pages.
function edgesOf(world: World, request: Request, band: string, end: number): number[] {
  const edges: number[] = [];
  for (let page = 1; page * world.config.page_size < end; page++) {
    if (brings(world, request, band, page) !== brings(world, request, band, page - 1))
      edges.push(page);
  }
  return edges;
}

// The same of all windows, ascending.
function windowEdges(world: World, request: Request, end: number): number[] {
  const edges = windowsOf(world).flatMap(({ name }) => edgesOf(world, request, name, end));
  return [...new Set(edges)].sort(ascending);
}

// Whether the row has a page of a window for the tree: bound, and not below the window's cursor.
function brings(world: World, request: Request, band: string, page: number): boolean {
  const isBehind = page * world.config.page_size < (request.cursors[band] ?? 0);
  return request.windows[band]?.[page] === true && !isBehind;
}

// Window pages that the row still has behind its cursor: the tree does not take them, so they are freed.
function leftBehind(world: World, request: Request, end: number): FreedUnit[] {
  const { page_size: pageSize } = world.config;
  const units: FreedUnit[] = [];
  for (let page = request.protected / pageSize; page * pageSize < end; page++) {
    for (const { name } of windowsOf(world))
      if (!brings(world, request, name, page)) units.push(...dropWindowPage(request, name, page));
  }
  return units;
}

// A node that was on the host alone takes the row's pages.
function giveDevice(world: World, request: Request, node: TreeNode): number {
  const { page_size: pageSize } = world.config;
  const first = node.from / pageSize;
  node.ids = request.virtual.slice(first, node.to / pageSize);
  for (const { name } of windowsOf(world)) {
    node.windows[name] = brings(world, request, name, first);
    if (node.windows[name]) node.used[name] = world.uses;
  }
  return node.ids.length;
}

// The row takes the node's ids. Its own pages are duplicates; a window that the node lacks takes over the row's pages.
function yieldTo(
  world: World,
  request: Request,
  node: TreeNode,
  result: { duplicates: number; units: FreedUnit[]; rehomed: Record<string, number> },
): void {
  const first = node.from / world.config.page_size;
  const given = new Set<string>(); // windows that the node gets
  for (const band of windowsOf(world)) {
    if (node.windows[band.name] !== true && gets(world, request, node, band, first))
      given.add(band.name);
  }
  (node.ids ?? []).forEach((id, index) => {
    const page = first + index;
    const own = request.virtual[page] ?? 0;
    if (own === id) return;
    result.duplicates += 1;
    for (const band of windowsOf(world)) {
      const isBound = request.windows[band.name]?.[page] === true;
      if (isBound && given.has(band.name)) {
        band.bindings.set(id, band.bindings.get(own)!); // bound, as the row says
        band.bindings.delete(own);
        result.rehomed[band.name] = (result.rehomed[band.name] ?? 0) + 1;
        node.windows[band.name] = true;
        node.used[band.name] = world.uses;
      } else if (isBound) {
        result.units.push({ band: band.name, id: own });
      }
      request.windows[band.name]![page] = node.windows[band.name] === true; // every window has a list
    }
    result.units.push({ band: ownerOf(world).name, id: own });
    request.virtual[page] = id;
  });
}

// New nodes below the last one that agrees, one between every two edges of the row's windows.
function growPath(world: World, request: Request, path: readonly string[]): number {
  const { page_size: pageSize } = world.config;
  const steps = walk(world, path);
  let parent = steps.at(-1)?.node.id ?? null;
  let from = reachOf(steps);
  const start = from;
  const end = path.length * pageSize;
  const edges = windowEdges(world, request, end).map((page) => page * pageSize);
  for (const to of [...edges.filter((edge) => edge > start), end]) {
    if (to <= from) continue;
    const page = from / pageSize;
    const windows = windowsOf(world).map(({ name }): [string, boolean] => [
      name,
      brings(world, request, name, page),
    ]);
    const node: TreeNode = {
      id: world.nodeCount,
      parent,
      from,
      to,
      labels: path.slice(page, to / pageSize),
      ids: request.virtual.slice(page, to / pageSize),
      windows: Object.fromEntries(windows),
      state: null,
      used: Object.fromEntries(world.bands.map(({ name }) => [name, world.uses])),
      host: {},
      copying: {},
    };
    world.nodeCount += 1;
    world.tree.push(node);
    parent = node.id;
    from = to;
  }
  return (end - start) / pageSize;
}

/** Gives a slot of a request to a node that has no state. @internal */
export function giveState(world: World, request: Request, node: TreeNode, slot: number): void {
  for (const list of Object.values(request.slots)) {
    const at = list.indexOf(slot);
    if (at >= 0) list.splice(at, 1);
  }
  const { name } = stateBandOf(world)!; // it has the slot
  forgetLoaded(world, request, [{ band: name, id: slot }]);
  node.state = slot;
  node.used[name] = world.uses;
}
