// Legal operations on request rows and the whole of a request: opening, finishing, retracting, free groups.
import type { Key, KvOperation } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import { cutKey } from "./seeded-keys.js";
import type { SeededModel } from "./seeded-model.js";
import { holdsNothing, type ModelRequest } from "./seeded-rows.js";

function rowAlloc(draws: SeededDraws): KvOperation {
  return { op: "row.alloc", args: { reqs: draws.requestNames(draws.prng.weighted([0, 6, 2, 1])) } };
}

function rowFree(draws: SeededDraws): KvOperation | null {
  const { locks } = draws.model.tree;
  const request = draws.loose(
    (each) => holdsNothing(each) && !locks.some((lock) => lock.req === each.name),
  );
  return request === undefined ? null : { op: "row.free", args: { req: request.name } };
}

/** The most tokens of a row that can go into the tree: up to the first page that is not bound; 0 where nothing may go.
 * @internal */
export function insertableTokens(model: SeededModel, request: ModelRequest): number {
  if (model.config.prefix_sharing !== true) return 0;
  if (model.host.reserves(request) || model.net.of(request.name).length > 0) return 0;
  const unbound = request.full.indexOf(false);
  const pages = unbound < 0 ? request.full.length : unbound;
  return Math.min(request.allocated, pages * request.pageSize);
}

/** A length and key that a row can go into the tree with, null where none can. @internal */
export function insertion(
  draws: SeededDraws,
  request: ModelRequest,
): { readonly key: Key; readonly len: number } | null {
  const most = insertableTokens(draws.model, request);
  if (most === 0) return null;
  const { prng } = draws;
  const len = prng.chance(2, 3) ? most : prng.between(1, most);
  const key = request.key ?? draws.keys.document(prng);
  return { key: cutKey(key, len), len };
}

function requestFinish(draws: SeededDraws): KvOperation | null {
  const { model } = draws;
  const request = draws.request((each) => !model.host.reserves(each));
  if (request === undefined) return null;
  const { name: req, allocated: len } = request;
  const inserted = draws.isWhole && draws.prng.chance(1, 2) ? insertion(draws, request) : null;
  if (inserted === null) return { op: "request.finish", args: { req, len, insert: false } };
  // A state goes to the tree only at the end of a page.
  const whole = inserted.len - (inserted.len % model.pageSize);
  const isWhole = whole > 0 && model.state !== null && draws.prng.chance(2, 3);
  const at = isWhole ? { key: cutKey(inserted.key, whole), len: whole } : inserted;
  return { op: "request.finish", args: { req, len: at.len, insert: true, key: at.key } };
}

function requestRetract(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const request = draws.request((each) => !model.host.reserves(each));
  if (request === undefined) return null;
  const { name: req } = request;
  const mayBackUp = draws.isWhole && model.config.host !== undefined && !model.net.isReceiving(req);
  if (mayBackUp && request.allocated > 0 && prng.chance(2, 3))
    return { op: "request.retract", args: { req, backup: draws.copyNames.fresh() } };
  return { op: "request.retract", args: { req } };
}

function requestRestore(draws: SeededDraws): KvOperation | null {
  const { kept } = draws.model.host;
  if (kept.length === 0) return null;
  const [name] = draws.requestNames(1) as [string]; // one was asked for
  return { op: "request.restore", args: { req: name, copy: draws.prng.pick(kept).copy } };
}

/** @internal */
export const REQUEST_BUILDERS: Builders = {
  "row.alloc": rowAlloc,
  "row.free": rowFree,
  "group.begin": ({ model }) => (model.isGroupOpen ? null : { op: "group.begin", args: {} }),
  "group.end": ({ model }) => (model.isGroupOpen ? { op: "group.end", args: {} } : null),
  "request.finish": requestFinish,
  "request.retract": requestRetract,
  "request.restore": requestRestore,
};
