// How requests end, what they leave to the tree, and checkpoints on the way.
import type { FreedOk, KvArgs, KvOk, TreeCounts } from "../base/operations.js";
import { pageLists } from "./answers.js";
import { evictEverything } from "./evict.js";
import { checkReserved } from "./fixed.js";
import { checkBetween, checkNow } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { giveHostPages } from "./host-pool.js";
import { checkInsert, giveState, insert } from "./insert.js";
import { dropLocks } from "./locks.js";
import { Faults, invalid, Refusal } from "./refusal.js";
import { allUnits, closeRequest, requestNamed } from "./rows.js";
import { take } from "./take.js";
import { inKeyOrder, labelsOf, pathTo, tokensOf, nodeEndingAt } from "./tree.js";
import { endHeldTransfers } from "./transfers.js";
import { type FreedUnit, type Request, stateBandOf, type World } from "./world.js";
import { deepCopy } from "./copy.js";
import { append as appendTo } from "../base/append.js";

/** @internal */
export function finish(
  world: World,
  { req, len, insert: isInserted, key }: KvArgs["request.finish"],
): FreedOk & { tree?: TreeCounts } {
  const request = requestNamed(world, req);
  const faults = new Faults();
  const labels = labelsOf(world, key ?? []);
  const tracked = lastTracked(request, tokensOf(key ?? []));
  const slot = slotToGive(world, request, tracked);
  const end = tracksStates(world) ? (tracked?.len ?? 0) : len;
  if (isInserted) checkInsert(world, request, labels, end, faults);
  checkReserved(world, request, allUnits(world, deepCopy(request)), faults);
  checkBetween(world, faults);
  faults.check();
  endHeldTransfers(world, req);
  let tree: TreeCounts | null = null;
  const units: FreedUnit[] = [];
  if (isInserted) {
    const inserted = insert(world, request, labels, end);
    tree = inserted.counts;
    appendTo(units, inserted.units);
    const node = nodeEndingAt(world, labels, end);
    if (slot !== null && node?.state === null) giveState(world, request, node, slot);
  }
  appendTo(units, endRequest(world, request));
  return { ...freedOk(world, freeUnits(world, units)), ...(tree === null ? {} : { tree }) };
}

// Whether states are cached where a forward tracked them, not at the end.
function tracksStates(world: World): boolean {
  const strategy = world.config.checkpoint?.strategy;
  return stateBandOf(world) !== null && (strategy ?? "no_buffer") !== "no_buffer";
}

// The last state tracked that a key of so many tokens names; null: none.
function lastTracked(request: Request, tokens: number): Request["tracked"][number] | null {
  return request.tracked.findLast(({ len }) => len <= tokens) ?? null;
}

function slotToGive(
  world: World,
  request: Request,
  tracked: Request["tracked"][number] | null,
): number | null {
  if (tracksStates(world)) return tracked?.slot ?? null;
  return world.config.checkpoint === undefined ? null : (request.slots.main[0] ?? null);
}

/** Locks, pages and slots of a request, which closes. What is to be freed. @internal */
export function endRequest(world: World, request: Request): ReturnType<typeof allUnits> {
  dropLocks(world, request.name);
  const units = allUnits(world, request);
  closeRequest(world, request);
  return units;
}

/** The tracked state becomes a checkpoint of the tree; the ring gets another slot. @internal */
export function stateDonate(
  world: World,
  { req, len }: KvArgs["state.donate"],
): KvOk["state.donate"] {
  const request = requestNamed(world, req);
  const tracked = request.tracked.findLast((entry) => entry.len === len);
  const faults = new Faults();
  checkBetween(world, faults);
  if (tracked === undefined) faults.add("nothing_tracked", { req });
  const path = pathTo(world, request.labels, len);
  const node = path?.at(-1);
  if (node === undefined) faults.add("no_node_at_len", { req });
  faults.check();
  const band = stateBandOf(world);
  if (band === null || tracked === undefined || node === undefined) invalid("feature_conflict");
  if (node.state !== null) return { slot: null, replacement: null };
  const { step, pages } = takeReplacement(world, band.name);
  const replacement = band.freeIds.shift()!; // the take checked that there is one
  band.bindings.set(replacement, pages[band.name]![0]!); // one page was taken
  node.state = tracked.slot;
  world.uses += 1;
  node.used[band.name] = world.uses;
  request.slots.track[request.slots.track.indexOf(tracked.slot)] = replacement;
  request.tracked = request.tracked.filter((entry) => entry !== tracked);
  request.checkpoint = len;
  return { slot: tracked.slot, replacement, step };
}

function takeReplacement(world: World, band: string): ReturnType<typeof take> {
  try {
    return take(world, { [band]: 1 });
  } catch (error) {
    if (error instanceof Refusal && error.refused.code !== "deadline")
      throw new Refusal({ code: "checkpoint_stalled" });
    throw error;
  }
}

/** `contents.discard`: the tree and what retracted requests keep on the host go when nothing is open. @internal */
export function contentsDiscard(world: World): KvOk["contents.discard"] {
  checkNow(world);
  const holders = [
    ...world.requests.keys(),
    ...world.locks.filter(({ kind }) => kind === "named").map(({ holder }) => holder),
    ...world.copies.map(({ name }) => name),
    ...world.loads.map(({ name }) => name),
    ...world.transfers.map(({ name }) => name),
  ];
  if (holders.length > 0)
    throw new Refusal({ code: "refused_busy", holders: [...new Set(holders)] });
  const { freed } = evictEverything(world);
  // Children before their parents.
  for (const node of inKeyOrder(world).reverse()) giveHostPages(world, node.host);
  world.tree = [];
  for (const { hostPages } of world.saved.values()) giveHostPages(world, hostPages);
  world.saved.clear();
  return { freed: pageLists(world, freed) };
}
