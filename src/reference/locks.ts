// Locks on tree nodes, kept by holder, key and length. What a lock took it gives back, splits or not.
import type { KvArgs } from "../base/operations.js";
import { invalid } from "./refusal.js";
import { isOnDevice, labelsOf, pathTo, reachedBy, slotNames, firstOf } from "./tree.js";
import type { Lock, TreeNode, World } from "./world.js";

/** Locks a path: full to the root, each window over its last tokens, the state at the end. @internal */
export function lockPath(
  world: World,
  path: readonly TreeNode[],
  holder: string,
  kind: Lock["kind"],
): void {
  if (path.length === 0) return;
  const nodes = Object.fromEntries(
    slotNames(world).map((slot) => [slot, reachedBy(world, path, slot).map(({ id }) => id)]),
  );
  world.locks.push({ holder, kind, path: nameOf(path), nodes, hostNodes: [] });
}

function nameOf(path: readonly TreeNode[]): string {
  return path.flatMap(({ labels }) => labels).join(" ");
}

/** Whether somebody locks a slot of a node. @internal */
export function isLocked(world: World, node: TreeNode, slot: string): boolean {
  return world.locks.some((lock) => (lock.nodes[slot] ?? []).includes(node.id));
}

/** Whether somebody locks any slot that the node has. @internal */
export function isLockedAtAll(world: World, node: TreeNode): boolean {
  return slotNames(world).some(
    (slot) => isOnDevice(world, node, slot) && isLocked(world, node, slot),
  );
}

/** Drops every lock under a name. @internal */
export function dropLocks(world: World, holder: string): void {
  world.locks = world.locks.filter((lock) => lock.holder !== holder || isOfWork(lock));
}

/** Drops the lock of a request's own row. @internal */
export function dropOwnLock(world: World, req: string): void {
  world.locks = world.locks.filter((lock) => lock.holder !== req || lock.kind !== "own");
}

/** Drops the locks of a copy or a load. @internal */
export function dropWorkLocks(world: World, name: string): void {
  world.locks = world.locks.filter((lock) => lock.holder !== name || !isOfWork(lock));
}

function isOfWork({ kind }: Lock): boolean {
  return kind === "backup" || kind === "load";
}

/** @internal */
export function treeLock(
  world: World,
  { key, len, req }: KvArgs["tree.lock"],
): Record<string, never> {
  const path = pathTo(world, labelsOf(world, key), len);
  if (path === null || path.length === 0) invalid("no_node_at_len", { req });
  lockPath(world, path, req, "named");
  return {};
}

/** Of a holder's equal locks the newest goes. @internal */
export function treeUnlock(
  world: World,
  { key, len, req }: KvArgs["tree.unlock"],
): Record<string, never> {
  const path = len % world.config.page_size === 0 ? firstOf(world, labelsOf(world, key), len) : [];
  const index = world.locks.findLastIndex(
    (lock) => lock.kind === "named" && lock.holder === req && lock.path === path.join(" "),
  );
  if (index < 0) invalid("lock_not_held", { req });
  world.locks.splice(index, 1);
  return {};
}
