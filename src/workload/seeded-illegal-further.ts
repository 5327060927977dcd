// Broken contracts of tree, host, transfers, checkpoints and stages, each with the rule that must answer.
import type { InvalidRule, KvOperation, KvOperationName } from "../base/operations.js";
import type { Builder, SeededDraws } from "./seeded-draws.js";
import { chunkGrid } from "./seeded-questions.js";
import { protectedPages } from "./seeded-rows.js";

function unknownRequest(draws: SeededDraws): KvOperation | null {
  const { model, prng, keys } = draws;
  if (model.closedNames.length === 0 || model.config.prefix_sharing !== true) return null;
  const req = prng.pick(model.closedNames);
  const key = keys.fresh();
  switch (prng.below(model.hasStages ? 4 : 6)) {
    case 0:
      return { op: "tree.match", args: { req, key } };
    case 1:
      return { op: "tree.insert", args: { req, key, len: model.pageSize } };
    case 2:
      return { op: "state.donate", args: { req, len: model.pageSize } };
    case 3:
      return { op: "request.finish", args: { req, len: 1, insert: true, key } };
    case 4:
      return {
        op: "net.send",
        args: { transfer: draws.transferNames.fresh(), req, from: 0, to: 1 },
      };
    default:
      return {
        op: "net.receive",
        args: { transfer: draws.transferNames.fresh(), req, from: 0, to: model.pageSize },
      };
  }
}

function rowInUse(draws: SeededDraws): KvOperation | null {
  const { locks } = draws.model.tree;
  const holder = draws.request((each) => locks.some((lock) => lock.req === each.name));
  return holder === undefined ? null : { op: "row.free", args: { req: holder.name } };
}

function receiveNotAtLength(draws: SeededDraws): KvOperation | null {
  const request = draws.request(({ allocated }) => allocated > 0);
  if (request === undefined || draws.model.hasStages) return null;
  const { name: req, allocated } = request;
  const transfer = draws.transferNames.fresh();
  return { op: "net.receive", args: { transfer, req, from: allocated - 1, to: allocated } };
}

function sendBeyondRow(draws: SeededDraws): KvOperation | null {
  const request = draws.request();
  if (request === undefined || draws.model.hasStages) return null;
  const { name: req, allocated } = request;
  const transfer = draws.transferNames.fresh();
  return { op: "net.send", args: { transfer, req, from: 0, to: allocated + 1 } };
}

function freeOfTreeRows(draws: SeededDraws): KvOperation | null {
  const request = draws.request((each) => protectedPages(each) > 0);
  if (request === undefined) return null;
  const to = draws.prng.between(1, protectedPages(request)) * draws.model.pageSize;
  const bands = draws.prng.chance(1, 2) ? "all" : "full";
  return { op: "tokens.free", args: { req: request.name, from: 0, to, bands } };
}

/** Pages that a load holds until its copy begins: nobody may free them. */
function freeOutsideReservation(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const request = draws.request((each) => model.host.reserves(each));
  if (request === undefined) return null;
  const { name: req, allocated: len } = request;
  const load = [...model.host.loads.values()].find((each) => each.request === request);
  if ((load?.demand["full"] ?? 0) === 0) return null;
  return prng.chance(1, 2)
    ? { op: "request.finish", args: { req, len, insert: false } }
    : { op: "request.retract", args: { req } };
}

function lockNotHeld(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.tree.places.length === 0) return null;
  const { key, len } = prng.pick(model.tree.places);
  return { op: "tree.unlock", args: { key, len, req: "nobody" } };
}

function nothingTracked(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.config.prefix_sharing !== true || model.state === null) return null;
  const request = draws.request((each) => !each.slots.has("track") && each.allocated > 0);
  if (request === undefined) return null;
  const { name: req, allocated: to } = request;
  if (prng.chance(1, 2)) {
    const batch = [{ req, from: 0, to, track: to }];
    return { op: "forward.launch", args: { step: draws.forwardName(), batch, mode: "extend" } };
  }
  return { op: "state.donate", args: { req, len: model.pageSize } };
}

function noNodeAtLen(draws: SeededDraws): KvOperation | null {
  const { model, prng, keys } = draws;
  if (model.config.prefix_sharing !== true) return null;
  const key = keys.fresh(); // nobody inserted it
  const len = model.pageSize * prng.between(1, 3);
  const place = draws.loose((each) => each.slots.has("main"));
  switch (prng.below(model.config.host === undefined ? 2 : 4)) {
    case 0:
      return { op: "tree.lock", args: { key, len, req: "h1" } };
    case 1:
      if (place === undefined) return null;
      return {
        op: "state.copy",
        args: { from: { key, len }, to: { req: place.name, purpose: "main" } },
      };
    case 2:
      return { op: "host.backup", args: { copy: draws.copyNames.fresh(), key, len } };
    default:
      return { op: "host.load_reserve", args: { load: draws.loadNames.fresh(), key, len } };
  }
}

/** A copy, load or transfer in the wrong phase. */
function nameState(draws: SeededDraws): KvOperation | null {
  const { prng, model } = draws;
  const { host, net } = model;
  const candidates: KvOperation[] = [];
  const copy = host.doneCopies.findLast((name) => !host.copies.has(name)); // a restore opens it again
  if (copy !== undefined) {
    candidates.push({ op: "host.backup_done", args: { copy, outcome: "ok" } });
    candidates.push({ op: "host.load_done", args: { copy, outcome: "failed" } });
  }
  const load = host.doneLoads.at(-1);
  if (load !== undefined) candidates.push({ op: "host.load_cancel", args: { load } });
  const unbound = [...host.loads.values()].find((each) => !each.isBound);
  const windows = model.windows.some(({ name }) => (unbound?.demand[name] ?? 0) > 0);
  if (unbound !== undefined && windows)
    candidates.push({
      op: "host.load_submit",
      args: { load: unbound.name, copy: draws.copyNames.fresh() },
    });
  const published = [...net.open.values()].find((each) => each.isPublished);
  if (published !== undefined)
    candidates.push({ op: "net.publish", args: { transfer: published.name } });
  const over = net.over.at(-1);
  if (over !== undefined) candidates.push({ op: "net.stall", args: { transfer: over } });
  return candidates.length === 0 ? null : prng.pick(candidates);
}

function resizeInUse(draws: SeededDraws): KvOperation | null {
  const { model } = draws;
  if (model.bytes.isEmpty && !model.hasStages) return null;
  return { op: "arena.resize", args: { arena_bytes: model.config.arena_bytes } };
}

function chunkBelowGrid(draws: SeededDraws): KvOperation | null {
  const grid = chunkGrid(draws);
  if (grid <= draws.model.pageSize) return null;
  const queue = [{ req: draws.requestNames(1)[0] ?? "r1", input: grid * 2, max_new: 1 }];
  return { op: "admit.pass", args: { queue, chunk: draws.prng.between(1, grid - 1) } };
}

function featureConflict(draws: SeededDraws): KvOperation | null {
  const { model } = draws;
  const request = draws.request();
  if (request === undefined) return null;
  const { name: req } = request;
  if (model.hasStages && request.allocated > 0)
    return {
      op: "net.receive",
      args: {
        transfer: draws.transferNames.fresh(),
        req,
        from: request.allocated,
        to: request.allocated,
      },
    };
  if (model.state === null) return { op: "state.alloc", args: { req, count: 1, purpose: "main" } };
  return null;
}

function stageAgreement({ model }: SeededDraws): KvOperation | null {
  if (!model.hasStages || model.config.invariants === 0) return null;
  const peer = "0123456789abcdef"; // nobody's digest
  return { op: "stages.digest", args: { iteration: model.digests + 1, peer } };
}

function observeOnlyRead({ model }: SeededDraws): KvOperation | null {
  if (model.config.invariants !== 2) return null;
  return { op: "ask.estimates", args: { inside: "admission" } };
}

/** Builders by the rule that each of them breaks. @internal */
export const FURTHER_RULES: readonly (readonly [InvalidRule, Builder])[] = [
  ["unknown_request", unknownRequest],
  ["row_in_use", rowInUse],
  ["extend_not_at_length", receiveNotAtLength],
  ["beyond_row", sendBeyondRow],
  ["free_of_tree_rows", freeOfTreeRows],
  ["free_outside_reservation", freeOutsideReservation],
  ["lock_not_held", lockNotHeld],
  ["nothing_tracked", nothingTracked],
  ["no_node_at_len", noNodeAtLen],
  ["name_state", nameState],
  ["resize_in_use", resizeInUse],
  ["chunk_below_grid", chunkBelowGrid],
  ["feature_conflict", featureConflict],
  ["stage_capacity_agreement", stageAgreement],
  ["observe_only_read", observeOnlyRead],
];

/** Takes and frees that may not stand between a launch and its recording. @internal */
export const FURTHER_TAKES: readonly KvOperationName[] = [
  "host.load_reserve",
  "host.load_cancel",
  "net.receive",
  "request.restore",
  "state.donate",
];
