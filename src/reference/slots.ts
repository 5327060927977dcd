// State slots of a request, by purpose.
import type { FreedOk, KvArgs, KvOk } from "../base/operations.js";
import { toExtents } from "../base/extents.js";
import { checkNow } from "./forwards.js";
import { freedOk, freeUnits } from "./frees.js";
import { invalid } from "./refusal.js";
import { requestNamed } from "./rows.js";
import { unretired, waitFor, writesOne } from "./signals.js";
import { take } from "./take.js";
import { type Band, type Request, stateBandOf, type World } from "./world.js";

function stateBand(world: World): Band {
  return stateBandOf(world) ?? invalid("feature_conflict");
}

/** @internal */
export function stateAlloc(
  world: World,
  { req, count, purpose }: KvArgs["state.alloc"],
): KvOk["state.alloc"] {
  const request = requestNamed(world, req);
  checkNow(world);
  const band = stateBand(world);
  const { step, pages } = take(world, { [band.name]: count });
  const places = pages[band.name] ?? [];
  const slots = places.map((page) => {
    const slot = band.freeIds.shift()!; // the take checked that there are enough
    band.bindings.set(slot, page);
    return slot;
  });
  request.slots[purpose].push(...slots);
  return { slots: toExtents(slots), [band.name]: toExtents(places), step };
}

/** @internal */
export function stateFree(world: World, { req, purpose }: KvArgs["state.free"]): FreedOk {
  const request = requestNamed(world, req);
  const band = stateBand(world);
  if (request.slots[purpose].length === 0)
    invalid("free_of_unbound_page", { req, band: band.name });
  checkNow(world);
  const units = request.slots[purpose].map((id) => ({ band: band.name, id }));
  request.slots[purpose] = [];
  if (purpose === "track") request.ring = 0;
  return freedOk(world, freeUnits(world, units));
}

/** The slot that stands for a purpose: of several the first, of `track` the ring's current one. @internal */
export function slotOf(request: Request, purpose: keyof Request["slots"]): number | null {
  const slots = request.slots[purpose];
  return slots[purpose === "track" ? request.ring : 0] ?? null;
}

/** @internal */
export function stateCopy(world: World, { from, to }: KvArgs["state.copy"]): KvOk["state.copy"] {
  const target = requestNamed(world, to.req);
  if (!("req" in from)) invalid("no_node_at_len");
  const source = requestNamed(world, from.req);
  const fromSlot = slotOf(source, from.purpose) ?? invalid("nothing_tracked", { req: from.req });
  const toSlot = slotOf(target, to.purpose) ?? invalid("nothing_tracked", { req: to.req });
  const band = stateBand(world);
  const fromPage = band.bindings.get(fromSlot)!; // slots of requests are bound
  const toPage = band.bindings.get(toSlot)!;
  const running = unretired(world);
  const mustWait = running.some(
    (forward) =>
      writesOne(forward, band, [fromPage, toPage]) ||
      (forward.reads[band.name] ?? []).includes(toPage),
  );
  if (mustWait) waitFor(world, [running.at(-1)!.name]); // one of them is in the way, so there is a last one
  world.fx.push(["copy", band.name, [[fromPage, toPage]]]);
  return {};
}
