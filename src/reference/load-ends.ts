// How loads end: given up before they are submitted, done, or failed.
import type { FreedOk, KvArgs } from "../base/operations.js";
import { checkBetween } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { giveHostPages } from "./host-pool.js";
import { loadedIds } from "./loads.js";
import { dropWorkLocks } from "./locks.js";
import { Faults, invalid } from "./refusal.js";
import { dropPage, shorten } from "./rows.js";
import { walk } from "./tree.js";
import {
  bandNamed,
  type FreedUnit,
  type Load,
  type LoadPart,
  type LoadUnit,
  type Request,
  type TreeNode,
  type World,
} from "./world.js";

/** @internal */
export function loadCancel(world: World, args: KvArgs["host.load_cancel"]): FreedOk {
  const load = world.loads.find(({ name }) => name === args.load);
  if (load === undefined) invalid("name_state");
  const faults = new Faults();
  checkBetween(world, faults);
  faults.check();
  world.loads = world.loads.filter((other) => other !== load);
  dropWorkLocks(world, load.name);
  return freedOk(world, freeUnits(world, unitsToFree(world, load)));
}

/** @internal */
export function loadDone(world: World, { copy: name, outcome }: KvArgs["host.load_done"]): FreedOk {
  const copy = world.copies.find((candidate) => candidate.name === name);
  if (copy?.direction !== "in") invalid("name_state");
  const { work } = copy;
  if (outcome === "failed") {
    const faults = new Faults();
    checkBetween(world, faults);
    faults.check();
  }
  world.copies = world.copies.filter((other) => other !== copy);
  if (work.kind === "restore") {
    // A copy that failed has left the host pages as they were.
    if (outcome === "ok") giveHostPages(world, work.saved.hostPages);
    else world.saved.set(name, work.saved);
  }
  if (work.kind !== "load" && work.kind !== "restore") return { freed: {} };
  if (work.kind === "load") dropWorkLocks(world, work.load.name);
  const isTrees = outcome === "ok" && work.load.path !== null;
  if (outcome === "ok" && !isTrees) return { freed: {} };
  const units = isTrees ? enterTree(world, work.load) : unitsToFree(world, work.load);
  return freedOk(world, freeUnits(world, units));
}

// The nodes of the path get what the load brings; what they have meanwhile is to be freed.
function enterTree(world: World, load: Load): FreedUnit[] {
  const use = world.uses + 1;
  const left: FreedUnit[] = [];
  const nodes = walk(world, load.path ?? []).map(({ node }) => node);
  // The owner's ids first: windows are bound under them.
  for (const part of load.parts.toReversed()) {
    const taken = new Set<LoadUnit>();
    for (const node of nodes) {
      const given = give(world, part, node);
      if (given.length > 0) {
        node.used[part.band] = use;
        world.uses = use;
      }
      for (const unit of given) taken.add(unit);
    }
    const redundant = part.units.filter((unit) => !taken.has(unit));
    left.unshift(...redundant.map((unit) => freedUnit(part, unit)));
  }
  return left;
}

// Gives a node its units of a part, if it lacks them; which it took.
function give(world: World, { band, units }: LoadPart, node: TreeNode): readonly LoadUnit[] {
  const { page_size: pageSize } = world.config;
  const { role } = bandNamed(world, band);
  if (role === "state") {
    const own = units.filter(({ position }) => position === node.to);
    if (own.length === 0 || node.state !== null) return [];
    node.state = own[0]!.id; // there is one
    return own;
  }
  const own = units.filter(
    ({ position }) => node.from <= position * pageSize && position * pageSize < node.to,
  );
  if (own.length === 0) return [];
  if (role === "owner") {
    if (node.ids !== null) return [];
    node.ids = own.map(({ id }) => id);
    return own;
  }
  const fits = own.every(({ id }, index) => id !== 0 && id === node.ids?.[index]);
  if (node.windows[band] === true || !fits) return [];
  node.windows[band] = true;
  return own;
}

function freedUnit({ band }: LoadPart, { id, page }: LoadUnit): FreedUnit {
  return id === 0 ? { band, id, page } : { band, id };
}

// All that a load took, by position. Of a row it goes only while the row still has it and no tree does.
function unitsToFree(world: World, load: Load): FreedUnit[] {
  const request = load.req === null ? undefined : world.requests.get(load.req);
  if (load.req === null)
    return load.parts.flatMap((part) => part.units.map((unit) => freedUnit(part, unit)));
  return request === undefined ? [] : leaveRow(world, load, request);
}

function leaveRow(world: World, load: Load, request: Request): FreedUnit[] {
  const { page_size: pageSize } = world.config;
  const units: FreedUnit[] = [];
  const ids = loadedIds(world, load);
  const isTail = ids.length > 0 && request.virtual.at(-1) === ids.at(-1);
  for (const id of ids) {
    const page = request.virtual.indexOf(id);
    if (page >= 0 && page * pageSize >= request.protected)
      units.push(...dropPage(world, request, page));
  }
  for (const [name, { before, after }] of Object.entries(load.cursors)) {
    if (request.cursors[name] === after)
      request.cursors[name] = Math.max(before, request.protected);
  }
  if (isTail) shorten(world, request, Math.max(load.from, request.protected));
  for (const part of load.parts) {
    if (bandNamed(world, part.band).role !== "state") continue;
    for (const { id } of part.units) {
      if (!request.slots.main.includes(id)) continue;
      units.push({ band: part.band, id });
      request.slots.main = request.slots.main.filter((slot) => slot !== id);
    }
  }
  return units;
}
