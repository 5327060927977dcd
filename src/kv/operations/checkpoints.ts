// States that go to the tree: a tracked one while its request runs, the last one when it finishes.
import type { Answer, KeyPlace, KvArgs, OperationError } from "../../base/operations.js";
import type { Band } from "../alloc/band.js";
import type { TreeNode } from "../cache/tree-node.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";

/** Gives a tracked state to the tree and takes a slot in its place; without one nothing changes. @internal */
export function stateDonate(core: KvCore, args: KvArgs["state.donate"]): Answer<"state.donate"> {
  const { chain, requests } = core;
  const { req, len } = args;
  const request = requests.find(req);
  if (request === undefined) return { err: invalid("unknown_request", { req }) };
  const open = core.launchOpen();
  if (open !== null) return { err: open };
  const index = trackedIndex(request, (tokens) => tokens === len);
  const band = chain.stateBand;
  if (index < 0 || band === null || chain.slots === null)
    return { err: invalid("nothing_tracked", { req }) };
  const node = ownNodeAt(core, request, len);
  if (node === null) return { err: invalid("no_node_at_len", { req }) };
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  if (node.slot !== 0) return { ok: { slot: null, replacement: null } };
  const demand = chain.bands.map((member) => (member === band ? 1 : 0));
  const plan = chain.price(demand);
  if (!("step" in plan))
    return { err: plan.code === "deadline" ? plan : { code: "checkpoint_stalled" } };
  const taken = chain.take(demand, plan);
  const slot = request.slots.track[index]!; // tracked there
  const replacement = chain.slots.mint(request, index);
  band.bind(replacement, taken.pages[band.index]![0]!, chain.steps.clock);
  requests.replaceSlot(request, "track", index, replacement);
  requests.setTracked(request, index, null);
  giveState(core, node, slot);
  requests.setCheckpoint(request, len);
  return { ok: { slot, replacement, step: taken.step, ...core.ended() } };
}

/** The newest tracking slot whose length passes; below 0 where none does. */
function trackedIndex(request: Request, passes: (tokens: number) => boolean): number {
  const { tracked, trackCursor } = request;
  for (let back = 1; back <= tracked.length; back++) {
    const index = (trackCursor - back + tracked.length) % tracked.length;
    const tokens = tracked[index] ?? null;
    if (tokens !== null && passes(tokens)) return index;
  }
  return -1;
}

/** The node on the request's own path that ends at `len`. */
function ownNodeAt(core: KvCore, request: Request, len: number): TreeNode | null {
  let node = core.tree.locks.own(request.name)?.node ?? core.tree.root;
  while (node.to > len) node = node.parent!;
  return node.to === len && !node.isRoot ? node : null;
}

function giveState(core: KvCore, node: TreeNode, slot: number): void {
  core.chain.slots?.share(slot, 0);
  core.tree.setState(node, slot, core.tree.useOf(core.chain.steps.clock));
}

/** How far a finish inserts, and the state that it may give to the node there; slot 0 = none. @internal */
export interface LastState {
  readonly len: number; // tokens
  readonly slot: number;
}

/** `len` and the main slot without tracking, else the newest tracked length up to `len` and its slot. @internal */
export function lastState(core: KvCore, request: Request, len: number): LastState {
  const strategy = core.config.checkpoint?.strategy;
  if (core.tree.state === null || strategy === undefined) return { len, slot: 0 };
  if (strategy === "no_buffer") return { len, slot: request.slots.main[0] ?? 0 };
  const index = trackedIndex(request, (tokens) => tokens <= len);
  if (index < 0) return { len: 0, slot: 0 }; // no state, so nothing that a match could end at
  return { len: request.tracked[index]!, slot: request.slots.track[index]! };
}

/** Gives the last state to a finish's end node, if it lies at a page's end and the node has none. Returns the slot
 * given, 0 for none. @internal */
export function giveLastState(core: KvCore, end: TreeNode, { len, slot }: LastState): number {
  if (slot === 0 || end.isRoot || end.to !== len || end.slot !== 0) return 0;
  giveState(core, end, slot);
  return slot;
}

/** The page of the state that a node keeps at `len` of a key. @internal */
export function cachedState(
  core: KvCore,
  at: KeyPlace,
): { readonly error: OperationError } | { readonly band: Band; readonly page: number } {
  const node = core.tree.reach(at.key, at.len);
  const band = core.chain.stateBand;
  if (node?.to !== at.len || node.isRoot) return { error: invalid("no_node_at_len") };
  if (node.slot === 0 || band === null) return { error: invalid("nothing_tracked") };
  return { band, page: band.v2p[node.slot]! };
}
