// Legal operations on the prefix tree.
import type { Key, KvOperation } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import { cutKey, lengthenKey } from "./seeded-keys.js";
import { holdsNothing, type ModelRequest } from "./seeded-rows.js";
import { insertion } from "./seeded-requests.js";

const HOLDERS = ["h1", "h2", "h3"] as const; // any name may hold a lock

/** Whether a request's row is empty, so that a match may fill it. */
function isUnused(draws: SeededDraws, request: ModelRequest): boolean {
  const { net } = draws.model;
  return request.allocated === 0 && holdsNothing(request) && net.of(request.name).length === 0;
}

/** A prompt, mostly one that goes on from a place that a match can end at. */
function prompt(draws: SeededDraws): Key {
  const { prng, keys, model } = draws;
  const known = model.state === null ? model.tree.places : model.tree.states;
  if (known.length > 0 && prng.chance(3, 4)) {
    const { key, len } = prng.pick(known);
    return lengthenKey(key, len + prng.below(2 * model.pageSize));
  }
  return cutKey(keys.document(prng), keys.promptTokens(prng));
}

function treeMatch(draws: SeededDraws): KvOperation | null {
  if (draws.model.config.prefix_sharing !== true) return null;
  const key = prompt(draws);
  const request = draws.prng.chance(2, 3)
    ? draws.request((each) => isUnused(draws, each))
    : undefined;
  return { op: "tree.match", args: request === undefined ? { key } : { key, req: request.name } };
}

/** A match of that request, null where its row is not empty. @internal */
export function matchOf(draws: SeededDraws, req: string): KvOperation | null {
  const request = draws.model.requests.get(req);
  if (draws.model.config.prefix_sharing !== true || request === undefined) return null;
  return isUnused(draws, request) ? { op: "tree.match", args: { key: prompt(draws), req } } : null;
}

function treeInsert(draws: SeededDraws): KvOperation | null {
  if (draws.model.config.prefix_sharing !== true) return null;
  const request = draws.loose((each) => each.allocated > each.protected);
  const inserted = request === undefined ? null : insertion(draws, request);
  if (request === undefined || inserted === null) return null;
  return { op: "tree.insert", args: { req: request.name, ...inserted } };
}

/** Puts a row's tracked length into the tree, null where that is not possible. @internal */
export function insertTracked(draws: SeededDraws, req: string): KvOperation | null {
  const request = draws.model.requests.get(req);
  const len = request?.tracked ?? 0;
  if (request === undefined || len === 0 || len <= request.protected) return null;
  const inserted = insertion(draws, request);
  if (inserted === null || inserted.len < len) return null;
  const key = cutKey(request.key ?? inserted.key, len);
  return { op: "tree.insert", args: { req, key, len } };
}

function treeLock(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.tree.places.length === 0) return null;
  const place = prng.pick(model.tree.places);
  const pages = place.len / model.pageSize;
  const len = prng.chance(2, 3) ? place.len : prng.between(1, pages) * model.pageSize;
  const open = draws.request();
  const req = open !== undefined && prng.chance(1, 3) ? open.name : prng.pick(HOLDERS);
  return { op: "tree.lock", args: { key: cutKey(place.key, len), len, req } };
}

function treeUnlock(draws: SeededDraws): KvOperation | null {
  const { locks } = draws.model.tree;
  return locks.length === 0 ? null : { op: "tree.unlock", args: draws.prng.pick(locks) };
}

function treeEvict(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.config.prefix_sharing !== true) return null;
  if (!model.tree.isUsed && !prng.chance(1, 8)) return null;
  if (prng.chance(1, 2)) return { op: "tree.evict", args: { demand: draws.demand() } };
  const units: Record<string, number | "all"> = {};
  for (const band of model.pageBytes.keys()) {
    if (prng.chance(1, 2)) units[band] = prng.chance(1, 8) ? "all" : prng.between(1, 4);
  }
  if (Object.keys(units).length === 0) units["full"] = prng.between(1, 4);
  return { op: "tree.evict", args: { units } };
}

/** Refused while anything is open, so mostly asked when nothing is. */
function contentsDiscard({ model, prng }: SeededDraws): KvOperation | null {
  if (model.config.prefix_sharing !== true) return null;
  const isIdle = model.requests.size === 0 && model.tree.locks.length === 0;
  return (isIdle && model.tree.isUsed) || prng.chance(1, 5)
    ? { op: "contents.discard", args: {} }
    : null;
}

/** Evicts what nothing locks, in some slots or in all. @internal */
export function evictAll({ model, prng }: SeededDraws): KvOperation {
  const isWhole = prng.chance(2, 3);
  const bands = [...model.pageBytes.keys()].filter(() => isWhole || prng.chance(1, 2));
  const units = Object.fromEntries(bands.map((band) => [band, "all" as const]));
  return { op: "tree.evict", args: { units } };
}

/** @internal */
export const TREE_BUILDERS: Builders = {
  "tree.match": treeMatch,
  "tree.insert": treeInsert,
  "tree.lock": treeLock,
  "tree.unlock": treeUnlock,
  "tree.evict": treeEvict,
  "contents.discard": contentsDiscard,
};
