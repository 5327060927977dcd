// Eviction of host copies: idle leaves of what is on the host, oldest first. A parent's copy never goes before its
// child's, since a path is loaded from its beginning.
import { append } from "../../base/append.js";
import type { OperationError } from "../../base/operations.js";
import type { KvCore } from "../core.js";
import type { TreeNode } from "./tree-node.js";
import { compareUse } from "./tree-order.js";

/** What an eviction freed. @internal */
export interface HostEviction {
  readonly pages: number[][]; // host pages by band index, in the order of their frees
  readonly nodes: number; // host copies that went
}

/**
 * Evicts host copies until so many pages are free; or the refusal, where even all would not do: then nothing went.
 *
 * @param need - host pages by band index
 * @param kept - nodes whose copies stay, with those above them
 * @internal
 */
export function evictHost(
  core: KvCore,
  need: readonly number[],
  kept: Iterable<TreeNode> = [],
): HostEviction | OperationError {
  const { pools } = core.host;
  const evicted: HostEviction & { nodes: number } = { pages: need.map(() => []), nodes: 0 };
  if (pools.shortage(need) === null) return evicted;
  const candidates = new Candidates(core, kept);
  const short = pools.shortage(need, candidates.credit);
  if (short !== null) return short;
  while (pools.shortage(need) !== null) {
    const node = candidates.takeOldest();
    const pages = dropHost(core, node);
    for (const [band, list] of pages.entries()) append(evicted.pages[band]!, list);
    evicted.nodes += 1;
  }
  return evicted;
}

/** Takes host pages by band index, evicting where the pools lack some; or the refusal, changing nothing. @internal */
export function takeHostPages(
  core: KvCore,
  need: readonly number[],
  kept: Iterable<TreeNode> = [],
): number[][] | OperationError {
  const evicted = evictHost(core, need, kept);
  return "code" in evicted ? evicted : core.host.pools.take(need);
}

/** Gives a node's host pages back; a node that is nowhere else goes too. Returns the pages by band index. */
function dropHost(core: KvCore, node: TreeNode): (readonly number[])[] {
  const { tree, host } = core;
  const pages = node.host.map((list) => list ?? []);
  for (const [band, list] of node.host.entries()) if (list !== null) tree.setHost(node, band, null);
  host.pools.give(pages);
  host.touch();
  if (!node.isOnDevice) tree.remove(node);
  return pages;
}

/** Drops a node that has no pages any more and all below it: there are host copies alone, and nothing reaches them now.
 * Returns the nodes removed. @internal */
export function dropPath(core: KvCore, node: TreeNode): number {
  let nodes = 1;
  for (const child of [...node.children.values()]) nodes += dropPath(core, child);
  dropHost(core, node);
  return nodes;
}

/** Drops every host copy: of tree nodes, which are off the device by now, and of retracted requests. @internal */
export function dropAllHost(core: KvCore): void {
  const { host, tree } = core;
  for (const node of [...tree.walk()].reverse()) dropHost(core, node);
  for (const kept of host.kept.values()) host.pools.give(kept.host);
  host.kept.clear();
  host.touch();
}

/** Host copies that may go, in their order. */
class Candidates {
  readonly credit: number[];
  readonly #core: KvCore;
  readonly #idle = new Set<TreeNode>();
  readonly #leaves: TreeNode[] = []; // the next one last

  constructor(core: KvCore, kept: Iterable<TreeNode>) {
    this.#core = core;
    this.credit = core.chain.bands.map(() => 0);
    const busy = busyNodes(core, kept);
    for (const node of core.tree.walk()) {
      if (!node.hasHost || busy.has(node)) continue;
      this.#idle.add(node);
      for (const [band, list] of node.host.entries()) this.credit[band]! += list?.length ?? 0;
    }
    for (const node of this.#idle) if (this.#isLeaf(node)) this.#leaves.push(node);
    this.#leaves.sort((left, right) => this.#compare(right, left));
  }

  /** The oldest leaf; there is one while credit is left. */
  takeOldest(): TreeNode {
    const node = this.#leaves.pop()!;
    this.#idle.delete(node);
    const parent = node.parent!; // no candidate is the root
    if (this.#idle.has(parent) && this.#isLeaf(parent, node)) this.#insert(parent);
    return node;
  }

  #isLeaf(node: TreeNode, gone: TreeNode | null = null): boolean {
    for (const child of node.children.values()) if (child !== gone && child.hasHost) return false;
    return true;
  }

  #insert(node: TreeNode): void {
    let at = this.#leaves.length;
    while (at > 0 && this.#compare(this.#leaves[at - 1]!, node) < 0) at -= 1;
    this.#leaves.splice(at, 0, node);
  }

  #compare(left: TreeNode, right: TreeNode): number {
    const { band } = this.#core.tree.full;
    return compareUse(left, band, right, band);
  }
}

/** Nodes whose host copies are read or written by a copy, or are to stay, and all above them. */
function busyNodes(core: KvCore, kept: Iterable<TreeNode>): Set<TreeNode> {
  const busy = new Set<TreeNode>();
  const mark = (from: TreeNode): void => {
    for (let node: TreeNode | null = from; node !== null && !busy.has(node); node = node.parent)
      busy.add(node);
  };
  for (const node of kept) mark(node);
  for (const { node } of core.host.openBackups()) mark(node);
  for (const { path } of core.host.openLoads()) for (const node of path?.sources ?? []) mark(node);
  return busy;
}
