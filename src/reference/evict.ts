// Eviction from the tree: victims by last use, ties deepest first, then the oldest.
import type { Demand, KvArgs, KvOk } from "../base/operations.js";
import { type Lists, appendAll } from "./answers.js";
import { freedOk, freeUnits } from "./frees.js";
import { checkNow } from "./forwards.js";
import { giveHostPages } from "./host-pool.js";
import { isLocked, isLockedAtAll } from "./locks.js";
import { fits } from "./trial.js";
import { Refusal } from "./refusal.js";
import { inChainOrder, isShort, shortBand } from "./take.js";
import { childrenOf, inKeyOrder, isOnDevice, slotNames } from "./tree.js";
import {
  bandNamed,
  type FreedUnit,
  ownerOf,
  stateBandOf,
  type TreeNode,
  windowsOf,
  type World,
} from "./world.js";
import { noteAsked } from "./asked.js";
import { deepCopy } from "./copy.js";
import { append as appendTo } from "../base/append.js";

/** What was evicted so far. @internal */
export interface Evicted {
  readonly freed: Lists;
  readonly deferred: Lists;
  readonly counts: Record<string, number>; // units a slot, those that went with a leaf included
  nodes: number; // removed from the tree
}

/** @internal */
export function treeEvict(
  world: World,
  { demand, units }: KvArgs["tree.evict"],
): KvOk["tree.evict"] {
  checkNow(world);
  const evicted = demand === undefined ? evictUnits(world, units ?? {}) : evictFor(world, demand);
  return { ...freedOk(world, evicted), nodes: evicted.nodes };
}

// So many units a slot.
function evictUnits(world: World, units: Readonly<Record<string, number | "all">>): Evicted {
  const evicted: Evicted = { freed: {}, deferred: {}, counts: {}, nodes: 0 };
  for (const slot of slotNames(world)) {
    const wanted = units[slot] ?? 0;
    while (wanted === "all" || (evicted.counts[slot] ?? 0) < wanted) {
      const next = nextOf(world, isJoint(world) ? slotNames(world) : [slot]);
      if (next === null) break;
      evict(world, next.victim, next.slot, evicted);
    }
  }
  return evicted;
}

// Whether full and its only window are evicted from one list.
function isJoint(world: World): boolean {
  return (
    world.config.eviction === "joint_lru" &&
    slotNames(world).length === 2 &&
    windowsOf(world).length === 1
  );
}

interface Next {
  readonly victim: TreeNode;
  readonly slot: string;
}

// The entry that goes first of several slots' entries.
function nextOf(world: World, slots: readonly string[]): Next | null {
  const entries = slots.flatMap((slot): Next[] => {
    const victim = victimOf(world, slot);
    return victim === null ? [] : [{ victim, slot }];
  });
  return (
    entries.sort((left, right) => compare(left.victim, left.slot, right.victim, right.slot))[0] ??
    null
  );
}

// Takes an entry out and frees it at once.
function evict(world: World, victim: TreeNode, slot: string, evicted: Evicted): void {
  const units =
    slot === ownerOf(world).name
      ? evictLeaf(world, victim, evicted)
      : evictSlot(world, victim, slot);
  const { freed, deferred } = freeUnits(world, units);
  for (const [name, ids] of Object.entries(freed)) appendAll(evicted.freed, name, ids);
  for (const [name, ids] of Object.entries(deferred)) appendAll(evicted.deferred, name, ids);
  for (const { band } of units) evicted.counts[band] = (evicted.counts[band] ?? 0) + 1;
}

// The entry of a slot that goes first; of full a whole leaf. Null: none may go.
function victimOf(world: World, slot: string): TreeNode | null {
  const isFull = slot === ownerOf(world).name;
  const candidates = world.tree.filter((node) => {
    if (!isOnDevice(world, node, slot)) return false;
    if (isFull) return isDeviceLeaf(world, node) && !isLockedAtAll(world, node);
    return !isLocked(world, node, slot);
  });
  return first(candidates, slot);
}

function first(candidates: readonly TreeNode[], slot: string): TreeNode | null {
  return [...candidates].sort((left, right) => compare(left, slot, right, slot))[0] ?? null;
}

// By last use, then the deepest, then the oldest.
function compare(left: TreeNode, leftSlot: string, right: TreeNode, rightSlot: string): number {
  const uses = (left.used[leftSlot] ?? 0) - (right.used[rightSlot] ?? 0);
  return uses || right.to - left.to || left.id - right.id;
}

function isDeviceLeaf(world: World, node: TreeNode): boolean {
  return node.ids !== null && childrenOf(world, node).every((child) => child.ids === null);
}

// A whole leaf leaves the device; with a host copy the node stays.
function evictLeaf(world: World, node: TreeNode, evicted: Evicted): FreedUnit[] {
  const units: FreedUnit[] = [];
  for (const { name } of windowsOf(world)) {
    if (node.windows[name] === true) appendTo(units, evictSlot(world, node, name));
  }
  const state = stateBandOf(world);
  if (state !== null && node.state !== null) units.push(...evictSlot(world, node, state.name));
  for (const id of node.ids ?? []) units.push({ band: ownerOf(world).name, id });
  node.ids = null;
  if (Object.keys(node.host).length === 0) evicted.nodes += remove(world, node);
  return units;
}

// Takes a node out, and with it what lies below on the host alone: no load could reach that again. How many nodes.
function remove(world: World, node: TreeNode): number {
  const below = inKeyOrder(world, node).reverse();
  for (const child of below) giveHostPages(world, child.host);
  world.tree = world.tree.filter((other) => other !== node && !below.includes(other));
  return below.length + 1;
}

function evictSlot(world: World, node: TreeNode, slot: string): FreedUnit[] {
  if (bandNamed(world, slot).role === "state") {
    const id = node.state;
    node.state = null;
    return id === null ? [] : [{ band: slot, id }];
  }
  node.windows[slot] = false;
  return (node.ids ?? []).map((id) => ({ band: slot, id }));
}

// Asking after each: entries of a slot whose index room is short, whole leaves, the windows and states that are left.
function evictFor(world: World, demand: Demand): Evicted {
  const emptied = deepCopy(world);
  evictEverything(emptied);
  const isMet = fits(world, demand) || fits(emptied, demand);
  noteAsked(world, "reclaim", demand, isMet);
  if (!isMet) {
    const limit = shortBand(world, demand) ?? "bytes";
    throw new Refusal({ code: "refused_capacity", demand: inChainOrder(world, demand), limit });
  }
  const evicted: Evicted = { freed: {}, deferred: {}, counts: {}, nodes: 0 };
  while (!fits(world, demand)) {
    const next = nextFor(world, demand);
    if (next === null) throw new Error("nothing is left to evict for a demand that would fit");
    evict(world, next.victim, next.slot, evicted);
  }
  return evicted;
}

function nextFor(world: World, demand: Demand): Next | null {
  const slots = slotNames(world);
  if (isJoint(world)) return nextOf(world, slots);
  const short = slots.filter((slot) => isShort(world, demand, slot));
  for (const slot of short) {
    const next = nextOf(world, [slot]);
    if (next !== null) return next;
  }
  return nextOf(world, slots.slice(0, 1)) ?? nextOf(world, slots.slice(1));
}

/** Evicts all that nobody locks. @internal */
export function evictEverything(world: World): Evicted {
  const all = slotNames(world).map((slot): [string, "all"] => [slot, "all"]);
  return evictUnits(world, Object.fromEntries(all));
}
