// Legal operations on state slots: taking, freeing, copying, and giving tracked ones to the tree.
import type { KvOperation, StatePlace, StatePurpose } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import type { ModelRequest } from "./seeded-rows.js";

const PURPOSES: readonly StatePurpose[] = ["main", "track", "replace", "cow"];

function stateAlloc(draws: SeededDraws): KvOperation | null {
  const request = draws.request();
  const { state } = draws.model;
  if (request === undefined || state === null) return null;
  const most = draws.amount(draws.model.bytesOf(state));
  const count = draws.prng.chance(1, 3) ? 1 : draws.prng.between(1, Math.max(1, most));
  const purpose = draws.prng.pick(PURPOSES);
  if (draws.isWhole && draws.prng.chance(2, 3)) return needed(draws, request);
  return { op: "state.alloc", args: { req: request.name, count, purpose } };
}

/** The slots that a request of a scheduler has: a main one, and tracking ones where states are tracked. */
function needed(draws: SeededDraws, request: ModelRequest): KvOperation {
  const { checkpoint } = draws.model.config;
  const isTracking = checkpoint !== undefined && checkpoint.strategy !== "no_buffer";
  const purpose = isTracking && request.slots.has("main") ? "track" : "main";
  const count = purpose === "main" ? 1 : draws.prng.between(1, 2);
  return { op: "state.alloc", args: { req: request.name, count, purpose } };
}

/** Every place of a state whose row no load or transfer needs as it is. */
function statePlaces(draws: SeededDraws): StatePlace[] {
  const { host, net, requests } = draws.model;
  const places: StatePlace[] = [];
  for (const request of requests.values()) {
    if (host.reserves(request) || net.holds(request.name)) continue;
    for (const purpose of request.slots.keys()) places.push({ req: request.name, purpose });
  }
  return places;
}

function stateFree(draws: SeededDraws): KvOperation | null {
  const places = statePlaces(draws);
  return places.length === 0 ? null : { op: "state.free", args: draws.prng.pick(places) };
}

function stateCopy(draws: SeededDraws): KvOperation | null {
  const { prng } = draws;
  const places = statePlaces(draws);
  const { states } = draws.model.tree;
  if (states.length > 0 && places.length > 0 && prng.chance(2, 3))
    return { op: "state.copy", args: { from: prng.pick(states), to: prng.pick(places) } };
  if (places.length < 2) return null;
  const from = prng.pick(places);
  const to = prng.pick(places.filter((place) => place !== from));
  return { op: "state.copy", args: { from, to } };
}

/** Whether the request's newest tracked state can go to the tree: its node is the one that the row's protection ends at. */
export function canDonate(request: ModelRequest): boolean {
  return (
    request.tracked !== null &&
    request.tracked > 0 &&
    request.tracked === request.protected &&
    request.slots.has("track")
  );
}

function stateDonate(draws: SeededDraws): KvOperation | null {
  const request = draws.loose(canDonate);
  if (request === undefined) return null;
  return { op: "state.donate", args: { req: request.name, len: request.protected } };
}

/** @internal */
export const STATE_BUILDERS: Builders = {
  "state.alloc": stateAlloc,
  "state.free": stateFree,
  "state.copy": stateCopy,
  "state.donate": stateDonate,
};
