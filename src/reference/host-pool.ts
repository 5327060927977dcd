// Host pages a band, first in, first out, and the finished copies of tree nodes that fill them.
import type { KvArgs, KvOk, PageLists } from "../base/operations.js";
import { type Lists, appendAll } from "./answers.js";
import { toExtents } from "../base/extents.js";
import { Refusal } from "./refusal.js";
import { inKeyOrder } from "./tree.js";
import { type HostPages, ownerOf, type TreeNode, type World } from "./world.js";

/** Host lists in chain order; host pages count from 0, so they are written apart from device pages. @internal */
export function hostLists(world: World, lists: Lists): PageLists {
  const result: Record<string, PageLists[string]> = {};
  for (const { name } of world.bands) {
    const ids = lists[name] ?? [];
    // Shifted by one, since 0 means an unbound page in lists of the device.
    if (ids.length > 0)
      result[name] = toExtents(ids.map((id) => id + 1)).map(([id, count]) => [id - 1, count]);
  }
  return result;
}

/** Makes room for so many pages a band by evicting idle host leaves; refuses with `refused_host`. @internal */
export function makeHostRoom(
  world: World,
  need: Readonly<Record<string, number>>,
): { readonly freed: Lists; readonly nodes: number } {
  const freed: Lists = {};
  let nodes = 0;
  const short = (): string | undefined =>
    world.bands.find(({ name }) => (need[name] ?? 0) > (world.hostFree[name] ?? []).length)?.name;
  const before = Object.fromEntries(
    world.bands.map(({ name }) => [name, (world.hostFree[name] ?? []).length]),
  );
  for (let band = short(); band !== undefined; band = short()) {
    const victim = idleHostLeaf(world);
    if (victim === null)
      throw new Refusal({ code: "refused_host", need: need[band] ?? 0, free: before[band] ?? 0 });
    for (const [name, pages] of Object.entries(victim.host)) {
      giveHostPages(world, { [name]: pages });
      appendAll(freed, name, pages);
    }
    victim.host = {};
    nodes += 1;
    if (victim.ids === null) world.tree = world.tree.filter((node) => node !== victim);
  }
  return { freed, nodes };
}

// A host copy goes only when no node below has one and nobody uses it; the least recently used first, as its full pages tell.
function idleHostLeaf(world: World): TreeNode | null {
  const hasCopy = (node: TreeNode): boolean =>
    Object.keys(node.host).length > 0 || Object.keys(node.copying).length > 0;
  const candidates = world.tree.filter(
    (node) =>
      Object.keys(node.host).length > 0 &&
      Object.keys(node.copying).length === 0 &&
      !inKeyOrder(world, node).some(hasCopy) &&
      !world.locks.some((lock) => lock.hostNodes.includes(node.id)),
  );
  const { name: full } = ownerOf(world);
  const usedAt = (node: TreeNode): number => node.used[full] ?? 0;
  candidates.sort(
    (left, right) => usedAt(left) - usedAt(right) || right.to - left.to || left.id - right.id,
  );
  return candidates[0] ?? null;
}

/** The oldest free host pages, which there must be. @internal */
export function takeHostPages(world: World, need: Readonly<Record<string, number>>): HostPages {
  const taken: HostPages = {};
  for (const { name } of world.bands) {
    const count = need[name] ?? 0;
    if (count > 0) taken[name] = (world.hostFree[name] ?? []).splice(0, count);
  }
  return taken;
}

/** @internal */
export function giveHostPages(world: World, pages: HostPages): void {
  for (const [name, ids] of Object.entries(pages)) appendAll(world.hostFree, name, ids);
}

/** @internal */
export function hostEvict(world: World, { demand }: KvArgs["host.evict"]): KvOk["host.evict"] {
  const { freed, nodes } = makeHostRoom(world, demand);
  return { freed: hostLists(world, freed), nodes };
}
