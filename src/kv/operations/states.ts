// state.alloc, state.free, state.copy.
import { toExtents } from "../../base/extents.js";
import {
  type Answer,
  type Extents,
  INVALID_RULES,
  type KvArgs,
  type OperationError,
  type StatePlace,
  type Step,
} from "../../base/operations.js";
import type { Band } from "../alloc/band.js";
import { HazardSet } from "../alloc/clearance.js";
import { isSlotReserved, reservedSlot } from "../cache/host-loads.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";
import { cachedState } from "./checkpoints.js";

/** @internal */
export function stateAlloc(core: KvCore, args: KvArgs["state.alloc"]): Answer<"state.alloc"> {
  const { chain } = core;
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  const band = chain.stateBand;
  if (band === null || chain.slots === null)
    return { err: invalid("feature_conflict", { req: args.req }) };
  const demand = chain.bands.map((member) => (member === band ? args.count : 0));
  const plan = chain.price(demand);
  if (!("step" in plan)) return { err: plan };
  const taken = chain.take(demand, plan);
  const slots: number[] = [];
  for (const page of taken.pages[band.index]!) {
    const slot = chain.slots.mint(request, request.slots[args.purpose].length);
    core.requests.addSlot(request, args.purpose, slot);
    band.bind(slot, page, chain.steps.clock);
    slots.push(slot);
  }
  const ok: Record<string, Extents | Step> = { slots: toExtents(slots) };
  ok[band.plan.name] = toExtents(taken.pages[band.index]!);
  ok["step"] = taken.step;
  return { ok: { ...ok, ...core.ended() } };
}

/** @internal */
export function stateFree(core: KvCore, args: KvArgs["state.free"]): Answer<"state.free"> {
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  if (request.slots[args.purpose].length === 0) {
    const band = core.chain.stateBand?.plan.name;
    return {
      err: invalid("free_of_unbound_page", {
        req: args.req,
        ...(band === undefined ? {} : { band }),
      }),
    };
  }
  const broken = reservedSlot(core, request, args.purpose) ?? core.launchOpen();
  if (broken !== null) return { err: broken };
  for (const slot of core.requests.clearSlots(request, args.purpose)) core.freeSlot(slot);
  return { ok: core.freed() };
}

/** @internal */
export function stateCopy(core: KvCore, args: KvArgs["state.copy"]): Answer<"state.copy"> {
  const { chain } = core;
  const from = "key" in args.from ? cachedState(core, args.from) : place(core, args.from);
  const to = place(core, args.to);
  const firstError = [from, to]
    .filter((found): found is { readonly error: OperationError } => "error" in found)
    .sort((left, right) => rank(left.error) - rank(right.error))[0];
  if (firstError !== undefined) return { err: firstError.error };
  if ("error" in from || "error" in to) return { err: { code: "unsupported" } }; // excluded above
  const { band } = from;
  const hazards = new HazardSet(chain.counts);
  // A forward that writes the source must be past; one that reads or writes the target must be past too.
  const newest = chain.steps.newestUnretired;
  const touchesTarget =
    chain.usage.readersOf(band, to.page).length > 0 || chain.usage.isWritten(band, to.page);
  if (newest !== null && (touchesTarget || chain.usage.isWritten(band, from.page)))
    hazards.add("schedule_copy", newest);
  chain.clear("schedule_copy", hazards, band, from.page, "reads");
  // The contract waits every host copy on both slots, one that only reads the source too.
  for (const use of band.usesAt(from.page))
    if (use.kind === "copy") hazards.add("schedule_copy", use);
  chain.clear("schedule_copy", hazards, band, to.page, "writes");
  const stalled = chain.stalled(hazards);
  if (stalled !== null) return { err: stalled };
  hazards.clear(chain.scope, chain.ledger);
  chain.scope.emit(["copy", band.plan.name, [[from.page, to.page]]]);
  return { ok: core.ended() };
}

function rank(error: OperationError): number {
  return INVALID_RULES.findIndex((rule) => rule === error.rule);
}

function place(
  core: KvCore,
  at: StatePlace,
): { readonly error: OperationError } | { readonly band: Band; readonly page: number } {
  const request = core.requests.find(at.req);
  if (request === undefined) return { error: invalid("unknown_request", { req: at.req }) };
  const slot = currentSlot(request, at.purpose);
  const band = core.chain.stateBand;
  if (slot === 0 || band === null) return { error: invalid("nothing_tracked", { req: at.req }) };
  if (isSlotReserved(core, slot)) return { error: invalid("name_state", { req: at.req }) };
  return { band, page: band.v2p[slot]! };
}

/** The slot a purpose names: of several the first, of `track` the ring's current one; 0 = none. @internal */
export function currentSlot(request: Request, purpose: StatePlace["purpose"]): number {
  return request.slots[purpose][purpose === "track" ? request.trackCursor : 0] ?? 0;
}
