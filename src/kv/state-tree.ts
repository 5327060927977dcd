// The prefix tree in a full state: its nodes, parents before children, siblings in key order.
import { expand, expandHost, hostExtents, toExtents } from "../base/extents.js";
import type { Extents } from "../base/operations.js";
import type { PrefixTree } from "./cache/prefix-tree.js";
import type { TreeSlot } from "./cache/tree-slot.js";
import type { KeyPiece } from "./cache/tree-key.js";
import type { PathLock } from "./cache/tree-locks.js";
import type { TreeNode } from "./cache/tree-node.js";
import type { KvCore } from "./core.js";

interface SlotState {
  readonly pages: Extents; // virtual ids; of state the slot id; empty where the slot is not there
  readonly locks: number;
  readonly used: number; // number of its last use: operations that used the tree, counted from 1
  readonly host: Extents; // host pages, empty without a copy
}
/** Where a lock's part of each window begins, in tokens. */
type WindowFrom = Readonly<Record<string, number>>;

interface NodeState {
  readonly key: readonly KeyPiece[]; // the node's own part: hash, offset in its segment, tokens
  readonly from: number;
  readonly to: number;
  readonly slots: Readonly<Record<string, SlotState>>;
  readonly x_made: number;
  readonly x_named: readonly NamedState[];
  readonly x_own: readonly (readonly [request: string, from: WindowFrom])[];
}
type NamedState = readonly [holder: string, from: WindowFrom, place: number]; // place in the order of taking

/** @internal */
export function treeState(core: KvCore): readonly unknown[] {
  const { tree, requests } = core;
  const named = new Map<TreeNode, NamedState[]>();
  const own = new Map<TreeNode, (readonly [string, WindowFrom])[]>();
  const locks = tree.locks.holders.flatMap((holder) =>
    tree.locks.named(holder).map((lock) => ({ holder, lock })),
  );
  locks.sort((left, right) => left.lock.serial - right.lock.serial);
  for (const [place, { holder, lock }] of locks.entries())
    note(named, lock.node, [holder, windowFrom(tree, lock), place]);
  for (const name of requests.open.keys()) {
    const lock = tree.locks.own(name);
    if (lock !== undefined) note(own, lock.node, [name, windowFrom(tree, lock)]);
  }
  // The root stands in the list only for locks that were taken there.
  const roots = named.has(tree.root) ? [tree.root] : [];
  return [...roots, ...tree.walk()].map((node): NodeState => ({
    key: node.key,
    from: node.from,
    to: node.to,
    slots: Object.fromEntries(tree.slots.map((slot) => [slot.name, slotState(tree, node, slot)])),
    x_made: node.made,
    x_named: named.get(node) ?? [],
    x_own: own.get(node) ?? [],
  }));
}

function note<T>(map: Map<TreeNode, T[]>, node: TreeNode, entry: T): void {
  const list = map.get(node);
  if (list === undefined) map.set(node, [entry]);
  else list.push(entry);
}

function windowFrom(tree: PrefixTree, lock: PathLock): WindowFrom {
  return Object.fromEntries(tree.windows.map(({ name, band }) => [name, lock.windowFrom[band]!]));
}

function slotState(tree: PrefixTree, node: TreeNode, slot: TreeSlot): SlotState {
  const isThere = tree.unitsOf(node, slot) > 0;
  const pages = slot.kind === "state" ? [node.slot] : (node.pages ?? []);
  return {
    pages: isThere ? toExtents(pages) : [],
    locks: node.locks[slot.band]!,
    used: node.used[slot.band]!,
    host: hostExtents(node.host[slot.band] ?? []),
  };
}

/** One slot of a loaded node. */
interface Entry {
  readonly node: TreeNode;
  readonly slot: TreeSlot;
  readonly state: SlotState;
}

/** Puts the nodes of a state into an empty tree, with the locks of requests and named holders. Rows are loaded already.
 * Locks that host copies hold are the host cache's to take again. @internal */
export function loadTree(core: KvCore, states: readonly unknown[]): void {
  const { tree } = core;
  const path: TreeNode[] = [tree.root]; // the node read last and its parents
  const entries: Entry[] = [];
  const nodes: TreeNode[] = [];
  for (const state of states as readonly NodeState[]) {
    while (path.at(-1)!.to > state.from) path.pop(); // the root ends at 0
    const parent = path.at(-1)!;
    const node =
      state.to === 0
        ? tree.root
        : tree.grow(parent, state.key, state.to - state.from, state.x_made);
    if (node !== tree.root) path.push(node);
    nodes.push(node);
    for (const slot of tree.slots) entries.push({ node, slot, state: state.slots[slot.name]! });
  }
  // In the order of their last use: then each goes to the end of its slot's order.
  entries.sort((left, right) => left.state.used - right.state.used);
  for (const entry of entries) loadSlot(core, entry);
  loadLocks(core, states as readonly NodeState[], nodes);
}

function loadSlot({ tree, chain }: KvCore, { node, slot, state }: Entry): void {
  node.used[slot.band] = state.used;
  if (state.host.length > 0) tree.setHost(node, slot.band, expandHost(state.host));
  if (state.pages.length === 0) return;
  const ids = expand(state.pages);
  if (slot.kind === "full") {
    const first = node.from / tree.pageTokens;
    for (const [index, virtual] of ids.entries()) chain.virtual.share(virtual, first + index);
    tree.attach(node, ids, state.used);
  } else if (slot.kind === "window") {
    tree.setWindow(node, slot, true, state.used);
  } else {
    chain.slots?.share(ids[0]!, 0);
    tree.setState(node, ids[0]!, state.used);
  }
}

function loadLocks(
  { tree }: KvCore,
  states: readonly NodeState[],
  nodes: readonly TreeNode[],
): void {
  const restored = (index: number, from: WindowFrom): PathLock =>
    tree.locks.restore({
      node: nodes[index]!, // one a state
      windowFrom: tree.orders.map((_, band) => {
        const slot = tree.windows.find((window) => window.band === band);
        return slot === undefined ? nodes[index]!.to : from[slot.name]!;
      }),
    });
  const named = states.flatMap(({ x_named }, index) => x_named.map((state) => ({ state, index })));
  named.sort((left, right) => left.state[2] - right.state[2]);
  for (const { state, index } of named) {
    const [holder, from] = state;
    tree.locks.addNamed(holder, restored(index, from));
  }
  for (const [index, { x_own }] of states.entries())
    for (const [request, from] of x_own) tree.locks.restoreOwn(request, restored(index, from));
}
