// `tree.match`: the deepest place of a key's path where every slot is valid.
import type { KvArgs, KvOk } from "../base/operations.js";
import { lockPath } from "./locks.js";
import { invalid } from "./refusal.js";
import { requestNamed } from "./rows.js";
import {
  isAnywhere,
  isOnDevice,
  labelsOf,
  type PathStep,
  pathTo,
  reachOf,
  slotNames,
  touch,
  walk,
  firstOf,
} from "./tree.js";
import { bandNamed, type Request, type TreeNode, windowsOf, type World } from "./world.js";

type Has = (world: World, node: TreeNode, slot: string) => boolean;

/** Ends at which a slot alone validates on a path. @internal */
function validEnds(world: World, steps: readonly PathStep[], slot: string, has: Has): number[] {
  const { role, window } = bandNamed(world, slot);
  const ends = [0];
  let run = Infinity; // tokens with the slot present up to here; unbroken from the root it counts as infinite
  for (const { node, shared } of steps) {
    const isPresent = has(world, node, slot);
    const isWhole = shared === node.to - node.from;
    if (role === "owner") {
      if (!isPresent) break;
      ends.push(node.from + shared);
    } else if (role === "state") {
      if (isPresent && isWhole) ends.push(node.to);
    } else {
      run = isPresent ? run + shared : 0;
      if (run >= (window ?? Infinity)) ends.push(node.from + shared);
    }
  }
  return ends;
}

/** The longest prefix of the labels at which all slots validate, and each slot alone. @internal */
export function longest(
  world: World,
  labels: readonly string[],
  has: Has = isOnDevice,
): { readonly len: number; readonly alone: Record<string, number> } {
  const steps = walk(world, labels);
  const alone: Record<string, number> = {};
  let common = [0, ...steps.map(({ node, shared }) => node.from + shared)];
  for (const slot of slotNames(world)) {
    const ends = validEnds(world, steps, slot, has);
    alone[slot] = Math.max(...ends);
    common = common.filter((end) => ends.includes(end));
  }
  return { len: Math.max(...common), alone };
}

/** @internal */
export function treeMatch(world: World, { key, req }: KvArgs["tree.match"]): KvOk["tree.match"] {
  const labels = labelsOf(world, key);
  const request = req === undefined ? null : requestNamed(world, req);
  if (request !== null && !isEmptyRow(request)) invalid("row_in_use", { req: request.name });
  const { len, alone } = longest(world, labels);
  const host = longest(world, labels, isAnywhere).alone;
  const path = pathTo(world, labels, len) ?? [];
  if (reachOf(walk(world, labels)) < len) throw new Error("a match beyond its path");
  world.uses += 1;
  touch(world, path);
  if (request !== null) adopt(world, request, labels, path, len);
  return { len, slots: inChain(world, alone), host: inChain(world, host) };
}

function isEmptyRow(request: Request): boolean {
  return request.allocated === 0 && request.virtual.length === 0;
}

function inChain(world: World, lens: Record<string, number>): Record<string, number> {
  return Object.fromEntries(world.bands.map(({ name }) => [name, lens[name] ?? 0]));
}

// The empty row takes the path's ids; its node is locked as the request's own.
function adopt(
  world: World,
  request: Request,
  labels: readonly string[],
  path: readonly TreeNode[],
  len: number,
): void {
  request.virtual = path.flatMap((node) => node.ids ?? []);
  for (const band of windowsOf(world)) {
    request.windows[band.name] = request.virtual.map((id) => band.bindings.has(id));
  }
  request.allocated = len;
  request.protected = len;
  request.checkpoint = len;
  for (const band of windowsOf(world)) request.cursors[band.name] = len;
  request.labels = firstOf(world, labels, len);
  lockPath(world, path, request.name, "own");
}
