// Legal operations on forwards and on the chain as a whole.
import type { ForwardEntry, KvOperation } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import type { ModelRequest } from "./seeded-rows.js";

function forwardLaunch(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.openForward !== undefined) return null;
  if (model.forwards.length >= draws.profile.forwardsMost) return null;
  // What a load or a peer has yet to fill is no forward's business.
  const chosen = draws.requests(
    6,
    (each) => each.allocated > 0 && !model.host.reserves(each) && !model.net.holds(each.name),
  );
  if (chosen.length === 0) return null;
  const { modes } = draws.profile;
  const mode =
    (["extend", "decode", "verify", "prebuilt"] as const)[prng.weighted(modes)] ?? "extend";
  const batch = chosen.map((request) => {
    const to = prng.chance(5, 6) ? request.allocated : prng.between(1, request.allocated);
    const from = mode === "decode" ? to - 1 : prng.below(to);
    return tracked(draws, request, { req: request.name, from, to });
  });
  return { op: "forward.launch", args: { step: draws.forwardName(), batch, mode } };
}

/** The entry with a tracked length on the checkpoint grid where the request has a slot for it. */
function tracked(draws: SeededDraws, request: ModelRequest, entry: ForwardEntry): ForwardEntry {
  const { checkpoint } = draws.model.config;
  if (!draws.isWhole || checkpoint === undefined || !request.slots.has("track")) return entry;
  const { prng } = draws;
  if (!prng.chance(3, 4)) return entry;
  const grid = prng.chance(1, 4) ? draws.model.pageSize : (checkpoint.interval ?? 1);
  const track = Math.floor(entry.to / grid) * grid;
  return track > entry.from ? { ...entry, track } : entry;
}

function forwardRecord(draws: SeededDraws): KvOperation | null {
  const forward = draws.model.forwards.find((each) => !each.recorded && !each.prebuilt);
  if (forward === undefined) return null;
  const writes = draws.prng.chance(...draws.profile.unknownWrites) ? "unknown" : "known";
  return { op: "forward.record", args: { step: forward.name, writes } };
}

function forwardBarrier(draws: SeededDraws): KvOperation | null {
  const list = draws.model.forwards.filter((each) => each.recorded);
  return list.length === 0
    ? null
    : { op: "forward.barrier", args: { step: draws.prng.pick(list).name } };
}

function forwardProcess(draws: SeededDraws): KvOperation | null {
  const oldest = draws.model.forwards[0];
  if (oldest === undefined || !(oldest.recorded || oldest.prebuilt)) return null;
  return { op: "forward.process", args: { step: oldest.name } };
}

function eventFire(draws: SeededDraws): KvOperation | null {
  // Where nothing is recorded there is no event.
  if (!draws.model.records) return null;
  const list = draws.model.forwards.filter((each) => each.recorded);
  if (list.length === 0) return null;
  const event = draws.prng.pick(list).name;
  return { op: "event.fire", args: { event, rank: draws.isWhole ? draws.prng.below(2) : 0 } };
}

/** @internal */
export const FORWARD_BUILDERS: Builders = {
  "forward.launch": forwardLaunch,
  "forward.record": forwardRecord,
  "forward.barrier": forwardBarrier,
  "forward.process": forwardProcess,
  "event.fire": eventFire,
  "chain.flush": () => ({ op: "chain.flush", args: {} }),
  "chain.relieve": (draws) => ({ op: "chain.relieve", args: { demand: draws.demand() } }),
};
