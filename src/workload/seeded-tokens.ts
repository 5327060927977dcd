// Legal operations on token positions: extending, decoding, freeing, retiring windows.
import type { KvOperation } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import { isInAnyWindow, wholePages } from "./seeded-draws.js";
import { type ModelRequest, protectedPages } from "./seeded-rows.js";

function tokensExtend(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const chosen = draws.requests(3, (each) => each.allocated < model.config.row_tokens);
  if (chosen.length === 0) return null;
  let pages = draws.amount(model.tokenPageBytes);
  const batch = chosen.map((request, index) => {
    const left = chosen.length - index;
    const share = left === 1 ? pages : prng.between(0, Math.floor((pages * 2) / left));
    pages -= Math.min(pages, share);
    const to = Math.min(model.config.row_tokens, draws.lengthAfter(request, share));
    const entry = { req: request.name, from: request.allocated, to };
    if (model.windows.length === 0 || !prng.chance(1, 4)) return entry;
    return { ...entry, tail: prng.between(0, 4 * model.pageSize) };
  });
  return { op: "tokens.extend", args: { batch } };
}

function tokensDecode(draws: SeededDraws): KvOperation | null {
  const { row_tokens: rowTokens, page_size: pageSize } = draws.model.config;
  const isFull = draws.prng.chance(1, 2); // rows whose next token needs a page
  const chosen = draws.requests(6, ({ allocated }) => {
    return allocated < rowTokens && (!isFull || allocated % pageSize === 0);
  });
  if (chosen.length === 0) return null;
  const batch = chosen.map((request) => ({ req: request.name, len: request.allocated + 1 }));
  return { op: "tokens.decode", args: { batch } };
}

/** Cuts a row's tail: every page of it is bound, no window's cursor is passed, nothing of the tree's is freed. */
function cutTail(draws: SeededDraws, request: ModelRequest): KvOperation | null {
  const { model, prng } = draws;
  let lowest = Math.max(request.protected, ...request.cursors);
  const unbound = request.full.lastIndexOf(false);
  lowest = Math.max(lowest, (unbound + 1) * model.pageSize);
  if (lowest >= request.allocated) return null;
  const from = prng.chance(1, 6) ? lowest : prng.between(lowest, request.allocated - 1);
  return {
    op: "tokens.free",
    args: { req: request.name, from, to: request.allocated, bands: "all" },
  };
}

function tokensFree(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const { pageSize } = model;
  const request = draws.loose((each) => each.allocated > 0);
  if (request === undefined) return null;
  const end = wholePages(request, pageSize);
  const kind = prng.weighted(model.windows.length > 0 ? [4, 4, 2, 2] : [4, 4, 1, 0]);
  if (kind === 0) return cutTail(draws, request);
  const index = kind === 3 ? prng.below(model.windows.length) : 0;
  const own = protectedPages(request);
  const has = (page: number): boolean => {
    if (page < own) return false;
    if (kind === 3) return request.full[page] === true && request.windows[index]?.[page] === true;
    return request.full[page] === true && (kind === 1 || !isInAnyWindow(request, page));
  };
  const run = draws.pageRun(end, has);
  if (run === undefined) return null;
  const band = model.windows[index]?.name;
  const bands = kind === 1 ? "all" : kind === 2 || band === undefined ? "full" : [band];
  // Anywhere in the page before the run means the same pages.
  const from = run.from * pageSize - (run.from > 0 && prng.chance(1, 4) ? prng.below(pageSize) : 0);
  return { op: "tokens.free", args: { req: request.name, from, to: run.to * pageSize, bands } };
}

function windowRetire(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.windows.length === 0 && !prng.chance(1, 10)) return null;
  const request = draws.loose((each) => each.allocated > 0);
  if (request === undefined) return null;
  const len = prng.chance(2, 3) ? request.allocated : prng.between(1, request.allocated);
  return { op: "window.retire", args: { req: request.name, len } };
}

/** @internal */
export const TOKEN_BUILDERS: Builders = {
  "tokens.extend": tokensExtend,
  "tokens.decode": tokensDecode,
  "tokens.free": tokensFree,
  "window.retire": windowRetire,
};
