// Cells of the prefix tree and of the host pools (docs/trace-format.md, section 8).
import { hashName, hashOn, type LaneSum } from "../base/digest.js";
import { addWeighted } from "./digest-list.js";
import { isAnywhere, isOnDevice } from "./tree.js";
import { type Band, stateBandOf, type TreeNode, type World } from "./world.js";

/** @internal */
export function addTree(sum: LaneSum, world: World, isFull: boolean): void {
  if (world.tree.length === 0) return;
  sum.add(1, 0, world.tree.length);
  world.bands.forEach((band, place) => {
    sum.add(2, place, unitsOnDevice(world, band));
  });
  if (!isFull) return;
  const names = pageNames(world);
  const nameOf = (id: number): number => names.get(id)?.at(-1) ?? 0;
  for (const node of world.tree) addNode(sum, world, node, names.get(node.id) ?? []);
  for (const { holder, kind, nodes } of world.locks) {
    const end = lastOf(world, Object.values(nodes).flat());
    if (kind === "named" && end !== null) sum.add(19, hashName(holder), nameOf(end.id));
  }
}

function unitsOnDevice(world: World, band: Band): number {
  const { page_size: pageSize } = world.config;
  const there = world.tree.filter((node) => isOnDevice(world, node, band.name));
  if (band.role === "state") return there.length;
  return there.reduce((units, node) => units + (node.to - node.from) / pageSize, 0);
}

function lastOf(world: World, ids: readonly number[]): TreeNode | null {
  const nodes = world.tree.filter(({ id }) => ids.includes(id));
  return nodes.sort((left, right) => right.to - left.to)[0] ?? null;
}

function addNode(sum: LaneSum, world: World, node: TreeNode, pages: readonly number[]): void {
  const name = pages.at(-1) ?? 0;
  sum.add(16, name, node.from);
  node.ids?.forEach((id, index) => {
    sum.add(17, pages[index] ?? 0, id);
  });
  const holders = world.locks.filter(({ hostNodes }) => hostNodes.includes(node.id)).length;
  if (holders > 0) sum.add(18, name, holders);
  const state = stateBandOf(world);
  world.bands.forEach((band, place) => {
    if (band.role === "window" && node.windows[band.name] === true) sum.add(64 + place, name, 1);
    if (band === state && node.state !== null) sum.add(64 + place, name, node.state);
    const locks = world.locks.filter((lock) => lock.nodes[band.name]?.includes(node.id)).length;
    if (locks > 0) sum.add(128 + place, name, locks);
    if (isAnywhere(world, node, band.name)) sum.add(192 + place, name, node.used[band.name] ?? 0);
    const host = node.host[band.name] ?? [];
    host.forEach((page, index) => {
      sum.add(256 + place, band === state ? name : (pages[index] ?? 0), page);
    });
  });
}

// By node, the names of its pages: a hash that goes on from the path before.
function pageNames(world: World): Map<number, number[]> {
  const names = new Map<number, number[]>();
  const children = new Map<number | null, TreeNode[]>();
  for (const node of world.tree) {
    const siblings = children.get(node.parent) ?? [];
    siblings.push(node);
    children.set(node.parent, siblings);
  }
  const walkFrom = (parent: number | null, before: number): void => {
    for (const node of children.get(parent) ?? []) {
      const own: number[] = [];
      for (const label of node.labels) own.push(hashOn(own.at(-1) ?? before, label));
      names.set(node.id, own);
      walkFrom(node.id, own.at(-1) ?? before);
    }
  };
  walkFrom(null, 0);
  return names;
}

/** @internal */
export function addHost(sum: LaneSum, world: World, isFull: boolean): void {
  const pools = world.bands.map(({ name }) => world.config.host?.[name] ?? 0);
  world.bands.forEach(({ name }, place) => {
    if ((pools[place] ?? 0) > 0) sum.add(1, place, (world.hostFree[name] ?? []).length);
  });
  if (world.copies.length > 0) sum.add(2, 0, world.copies.length);
  if (world.loads.length > 0) sum.add(3, 0, world.loads.length);
  if (world.saved.size > 0) sum.add(4, 0, world.saved.size);
  if (!isFull) return;
  world.copies.forEach(({ name }, place) => {
    sum.add(16, place, hashName(name));
  });
  for (const { name, isBound } of world.loads) sum.add(isBound ? 18 : 17, 0, hashName(name));
  for (const name of world.saved.keys()) sum.add(19, 0, hashName(name));
  world.bands.forEach(({ name }, place) => {
    (world.hostFree[name] ?? []).forEach((page, index) => {
      addWeighted(sum, 32 + place, index, page);
    });
  });
}
