// tree.evict, contents.discard.
import type { Answer, KvArgs, OperationError } from "../../base/operations.js";
import { reclaim } from "../admission/reclaim.js";
import { TreeEvictor, type Victim } from "../cache/tree-evictor.js";
import { dropAllHost } from "../cache/host-eviction.js";
import { KvCore } from "../core.js";
import { loadState, stateOf } from "../state-io.js";
import { freeLeaf, freeState, freeWindow } from "./tree-frees.js";

/** @internal */
export function treeEvict(core: KvCore, args: KvArgs["tree.evict"]): Answer<"tree.evict"> {
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const evictor = evictorOf(core);
  if (args.demand !== undefined) {
    const refusal = evictFor(core, core.chain.vector(args.demand), evictor);
    if (refusal !== null) return { err: refusal };
  }
  if (args.units !== undefined) evictUnits(core, args.units, evictor);
  return { ok: { ...core.freed(), nodes: evictor.nodes } };
}

/** The tree's entries in the order in which they go, each freed as it goes. @internal */
export function evictorOf(core: KvCore): TreeEvictor {
  const { windowBands, tree } = core;
  const isJoint =
    core.source.eviction === "joint_lru" && windowBands.length === 1 && tree.state === null;
  return new TreeEvictor(tree, isJoint, (victim) => free(core, victim));
}

/** Returns the nodes that are gone. */
function free(core: KvCore, { node, slot }: Victim): number {
  if (slot.kind === "full") return freeLeaf(core, node);
  if (slot.kind === "window") freeWindow(core, node, slot);
  else freeState(core, node);
  return 0;
}

/** Evicts until a demand fits; null, or the refusal, with nothing evicted. @internal */
export function evictFor(
  core: KvCore,
  demand: readonly number[],
  evictor: TreeEvictor,
): OperationError | null {
  const refusal = reclaim(core.chain, demand, evictor, () => couldFit(core, demand));
  return refusal && core.chain.capacityRefusal(demand);
}

/** Whether a demand fits once everything that may go is gone. */
function couldFit(core: KvCore, demand: readonly number[]): boolean {
  const { chain, tree } = core;
  if (core.group !== null) return false; // what is freed in a group stays live until its end
  // Counts do not tell where a freed page stays live for a transfer, or where pages cannot move.
  if (!chain.holdsAnything) return chain.fitsReclaimed(demand, tree.evictable);
  const copy = copyOf(core);
  evictAll(copy);
  return "step" in copy.chain.price(demand);
}

function copyOf(core: KvCore): KvCore {
  const copy = new KvCore(core.source, core.config, { layout: false, deep: false });
  loadState(copy, stateOf(core));
  return copy;
}

function evictAll(core: KvCore): number {
  const evictor = evictorOf(core);
  while (evictor.evictNext(null));
  return evictor.nodes;
}

/** So many units a slot, or all, in the tree's order of slots; what one slot's victims free of another counts there. */
function evictUnits(
  core: KvCore,
  units: NonNullable<KvArgs["tree.evict"]["units"]>,
  evictor: TreeEvictor,
): void {
  const { tree } = core;
  const before = [...tree.held];
  for (const slot of tree.slots) {
    const wanted = units[slot.name];
    if (wanted === undefined) continue;
    const most = wanted === "all" ? Number.POSITIVE_INFINITY : wanted;
    while (before[slot.band]! - tree.held[slot.band]! < most && evictor.evictOf(slot));
  }
}

/** Empties the tree, host copies included; refused while anybody holds something. @internal */
export function contentsDiscard(core: KvCore): Answer<"contents.discard"> {
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const holders = holdersOf(core);
  if (holders.length > 0) return { err: { code: "refused_busy", holders } };
  evictAll(core);
  dropAllHost(core);
  return { ok: { freed: core.freed().freed } };
}

/** Names of all that is open and counts on contents: requests, lock holders, copies, loads, transfers. */
function holdersOf({ requests, tree, host, net }: KvCore): readonly string[] {
  const holders = [requests.open, host.copies, host.loads, net.open].map((open) => [
    ...open.keys(),
  ]);
  const [rows = [], ...others] = holders;
  return [...new Set([...rows, ...tree.locks.holders, ...others.flat()])];
}
