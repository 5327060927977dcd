// State slots of a request, by purpose.
import type { FreedOk, KvArgs, KvOk } from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { checkReserved } from "./fixed.js";
import { checkBetween, checkNow } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { Faults, invalid } from "./refusal.js";
import { forgetLoaded, requestNamed } from "./rows.js";
import { copiesOn, transfersOn, unretired, waitFor, writesOne } from "./signals.js";
import { hostWait, take } from "./take.js";
import { labelsOf, nodeEndingAt } from "./tree.js";
import { type Band, type Request, stateBandOf, type World } from "./world.js";

function stateBand(world: World, req: string): Band {
  return stateBandOf(world) ?? invalid("feature_conflict", { req });
}

/** @internal */
export function stateAlloc(
  world: World,
  { req, count, purpose }: KvArgs["state.alloc"],
): KvOk["state.alloc"] {
  const request = requestNamed(world, req);
  checkNow(world);
  const band = stateBand(world, req);
  const { step, pages } = take(world, { [band.name]: count });
  const places = pages[band.name] ?? [];
  const taken = places.map((page) => ({ slot: band.freeIds.shift()!, page })); // the take checked the ids
  takeSlots(world, request, purpose, taken);
  const slots = toExtents(taken.map(({ slot }) => slot));
  return { slots, [band.name]: toExtents(places), step };
}

/** Binds slots that were taken and appends them to a purpose. @internal */
export function takeSlots(
  world: World,
  request: Request,
  purpose: keyof Request["slots"],
  taken: readonly { readonly slot: number; readonly page: number }[],
): void {
  for (const { slot, page } of taken) {
    stateBandOf(world)?.bindings.set(slot, page);
    request.slots[purpose].push(slot);
  }
}

/** @internal */
export function stateFree(world: World, { req, purpose }: KvArgs["state.free"]): FreedOk {
  const request = requestNamed(world, req);
  const band = stateBand(world, req);
  if (request.slots[purpose].length === 0)
    invalid("free_of_unbound_page", { req, band: band.name });
  const units = request.slots[purpose].map((id) => ({ band: band.name, id }));
  const faults = new Faults();
  checkReserved(world, request, units, faults);
  checkBetween(world, faults);
  faults.check();
  request.slots[purpose] = [];
  forgetLoaded(world, request, units);
  if (purpose === "track") {
    request.ring = 0;
    request.tracked = [];
  }
  return freedOk(world, freeUnits(world, units));
}

/** The slot that stands for a purpose: of several the first, of `track` the ring's current one. @internal */
export function slotOf(request: Request, purpose: keyof Request["slots"]): number | null {
  const slots = request.slots[purpose];
  return slots[purpose === "track" ? request.ring : 0] ?? null;
}

/** @internal */
export function stateCopy(world: World, { from, to }: KvArgs["state.copy"]): KvOk["state.copy"] {
  const faults = new Faults();
  const target = world.requests.get(to.req);
  if ("req" in from && !world.requests.has(from.req))
    faults.add("unknown_request", { req: from.req });
  if (target === undefined) faults.add("unknown_request", { req: to.req });
  const band = stateBand(world, to.req);
  const fromSlot = sourceSlot(world, from, faults);
  const toSlot = target === undefined ? null : slotOf(target, to.purpose);
  if (toSlot === null) faults.add("nothing_tracked", { req: to.req });
  faults.check();
  const fromPage = band.bindings.get(fromSlot ?? 0)!; // slots of requests and nodes are bound
  const toPage = band.bindings.get(toSlot ?? 0)!;
  const hostNeeds = [
    ...transfersOn(world, band, fromPage, ["receive"]),
    ...transfersOn(world, band, toPage),
  ];
  hostWait(world, hostNeeds);
  const running = unretired(world);
  const mustWait = running.some(
    (forward) =>
      writesOne(forward, band, [fromPage, toPage]) ||
      (forward.reads[band.name] ?? []).includes(toPage),
  );
  const copies = [...copiesOn(world, band, fromPage), ...copiesOn(world, band, toPage)];
  waitFor(world, mustWait ? [running.at(-1)!.name, ...copies] : copies); // one is in the way, so there is a last one
  world.fx.push(["copy", band.name, [[fromPage, toPage]]]);
  return {};
}

function sourceSlot(
  world: World,
  from: KvArgs["state.copy"]["from"],
  faults: Faults,
): number | null {
  if ("req" in from) {
    const request = world.requests.get(from.req);
    const slot = request === undefined ? null : slotOf(request, from.purpose);
    if (slot === null) faults.add("nothing_tracked", { req: from.req });
    return slot;
  }
  const node = nodeEndingAt(world, labelsOf(world, from.key), from.len); // nothing is split for it
  if (node === null) faults.add("no_node_at_len");
  else if (node.state === null) faults.add("nothing_tracked");
  return node?.state ?? null;
}
