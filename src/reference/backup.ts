// Copies to the host: of tree nodes, parents first, and of a request that is retracted.
import type { FreedOk, KvArgs, KvOk, PageLists } from "../base/operations.js";
import { append, type Lists, pageLists, appendAll } from "./answers.js";
import { endRequest } from "./finish.js";
import { checkReserved } from "./fixed.js";
import { checkBetween } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { giveHostPages, hostLists, makeHostRoom, takeHostPages } from "./host-pool.js";
import { dropWorkLocks, lockPath } from "./locks.js";
import { Faults, invalid } from "./refusal.js";
import { allUnits, placeOf, requestNamed } from "./rows.js";
import { copiesOn, waitFor } from "./signals.js";
import { labelsOf, pathTo } from "./tree.js";
import { endHeldTransfers } from "./transfers.js";
import {
  type Band,
  bandNamed,
  type Copy,
  ownerOf,
  type Place,
  type Request,
  type SavedRequest,
  stateBandOf,
  tokenBandsOf,
  type TreeNode,
  windowsOf,
  type World,
} from "./world.js";
import { deepCopy } from "./copy.js";

/** @internal */
export function hostBackup(world: World, args: KvArgs["host.backup"]): KvOk["host.backup"] {
  const { copy, key, len } = args;
  const path = pathTo(world, labelsOf(world, key), len);
  if (path === null || path.length === 0) invalid("no_node_at_len");
  if (isCopyKnown(world, copy)) invalid("name_state");
  const parts = path
    .map((node) => ({ node, lists: deviceLists(world, node) }))
    .filter(({ lists }) => Object.keys(lists).length > 0);
  const all: Lists = {};
  for (const { lists } of parts)
    for (const [name, pages] of Object.entries(lists)) appendAll(all, name, pages);
  lockCopied(
    world,
    path,
    parts.map(({ node }) => node.id),
    copy,
  );
  makeHostRoom(world, counts(all));
  for (const lock of world.locks)
    if (lock.holder === copy && lock.kind === "backup") lock.hostNodes.length = 0; // children hold them from here on
  const host: Lists = {};
  for (const { node, lists } of parts) {
    const taken = takeHostPages(world, counts(lists));
    node.copying[copy] = taken;
    for (const [name, pages] of Object.entries(taken)) appendAll(host, name, pages);
  }
  submit(world, copy, "out", all, { kind: "backup" });
  return { host: hostLists(world, host) };
}

// Locks the path to each copied node. What the whole path has on the host is no room for the rest of it.
function lockCopied(
  world: World,
  path: readonly TreeNode[],
  copied: readonly number[],
  copy: string,
): void {
  for (let at = path.length - 1; at >= 0; at--) {
    if (!copied.includes(path[at]!.id)) continue; // inside the path
    lockPath(world, path.slice(0, at + 1), copy, "backup");
    world.locks.at(-1)?.hostNodes.push(...path.map(({ id }) => id));
  }
}

function counts(lists: Lists): Record<string, number> {
  return Object.fromEntries(Object.entries(lists).map(([name, pages]) => [name, pages.length]));
}

// Pages of what a node has on the device and not on the host.
function deviceLists(world: World, node: TreeNode): Lists {
  const lists: Lists = {};
  const lacks = ({ name }: Band): boolean =>
    [node.host, ...Object.values(node.copying)].every((host) => host[name] === undefined);
  const placesIn = (band: Band): number[] =>
    (node.ids ?? []).map((id) => band.bindings.get(id) ?? 0);
  const state = stateBandOf(world);
  if (state !== null && node.state !== null && lacks(state))
    append(lists, state.name, state.bindings.get(node.state) ?? 0);
  for (const band of windowsOf(world))
    if (node.windows[band.name] === true && lacks(band))
      appendAll(lists, band.name, placesIn(band));
  const owner = ownerOf(world);
  if (node.ids !== null && lacks(owner)) appendAll(lists, owner.name, placesIn(owner));
  return lists;
}

/** Starts a copy over device pages: what still writes them is waited, then `hostcopy`. @internal */
export function submit(
  world: World,
  name: string,
  direction: Copy["direction"],
  lists: Lists,
  work: Copy["work"],
): PageLists {
  const places: Place[] = [];
  for (const { name: band } of world.bands)
    for (const page of lists[band] ?? []) places.push({ band, page });
  const directions = direction === "out" ? (["in"] as const) : (["in", "out"] as const);
  const waited = places.flatMap(({ band, page }) =>
    copiesOn(world, bandNamed(world, band), page, directions),
  );
  waitFor(world, waited);
  const pages = pageLists(world, lists);
  world.fx.push(["hostcopy", name, direction, pages]);
  world.copies.push({ name, direction, places, isWaited: false, work });
  return pages;
}

/** @internal */
export function isCopyKnown(world: World, name: string): boolean {
  return world.copies.some((copy) => copy.name === name) || world.saved.has(name);
}

/** @internal */
export function hostBackupDone(
  world: World,
  { copy: name, outcome }: KvArgs["host.backup_done"],
): Record<string, never> {
  const copy = world.copies.find((candidate) => candidate.name === name);
  if (copy?.direction !== "out") invalid("name_state");
  world.copies = world.copies.filter((other) => other !== copy);
  if (copy.work.kind === "retraction") {
    if (outcome === "ok") world.saved.set(name, copy.work.saved);
    else giveHostPages(world, copy.work.saved.hostPages);
    return {};
  }
  const rootFirst = [...world.tree].sort((left, right) => left.from - right.from);
  for (const node of rootFirst) {
    const copied = node.copying[name] ?? {};
    if (outcome === "ok") node.host = { ...node.host, ...copied };
    else giveHostPages(world, copied);
    node.copying = Object.fromEntries(
      Object.entries(node.copying).filter(([other]) => other !== name),
    );
  }
  dropWorkLocks(world, name);
  return {};
}

/** @internal */
export function retract(
  world: World,
  { req, backup }: KvArgs["request.retract"],
): FreedOk & { host?: PageLists } {
  const request = requestNamed(world, req);
  const faults = new Faults();
  checkReserved(world, request, allUnits(world, deepCopy(request)), faults);
  checkBetween(world, faults);
  if (backup !== undefined && isCopyKnown(world, backup)) faults.add("name_state");
  faults.check();
  let host: PageLists | null = null;
  if (backup !== undefined) host = save(world, request, backup);
  endHeldTransfers(world, req);
  const answer = freedOk(world, freeUnits(world, endRequest(world, request)));
  return host === null ? answer : { ...answer, host };
}

// Copies out what the row has in every token band, and its main slots.
function save(world: World, request: Request, copy: string): PageLists {
  const lists: Lists = {};
  for (const band of tokenBandsOf(world)) {
    request.virtual.forEach((_, page) => {
      const place = placeOf(world, request, band, page);
      if (place !== 0) append(lists, band.name, place);
    });
  }
  const state = stateBandOf(world);
  for (const slot of request.slots.main)
    if (state !== null) append(lists, state.name, state.bindings.get(slot) ?? 0);
  const need = counts(lists);
  makeHostRoom(world, need);
  const hostPages = takeHostPages(world, need);
  const flags = (band: Band): boolean[] =>
    request.virtual.map((_, page) => placeOf(world, request, band, page) !== 0);
  const saved: SavedRequest = {
    name: request.name,
    allocated: request.allocated,
    cursors: { ...request.cursors },
    full: flags(ownerOf(world)),
    windows: Object.fromEntries(windowsOf(world).map((band) => [band.name, flags(band)])),
    checkpoint: request.checkpoint,
    states: request.slots.main.length,
    hostPages,
  };
  submit(world, copy, "out", lists, { kind: "retraction", saved });
  return hostLists(world, hostPages);
}
