// Operations whose preconditions hold in the model. A builder answers null where the run has nothing to use it on.
import type { KvOperation, KvOperationName, StatePlace, StatePurpose } from "../base/operations.js";
import type { SeededDraws } from "./seeded-draws.js";
import { isInAnyWindow, wholePages } from "./seeded-draws.js";
import type { ModelRequest } from "./seeded-model.js";

type Builder = (draws: SeededDraws) => KvOperation | null;

const PURPOSES: readonly StatePurpose[] = ["main", "track", "replace", "cow"];

function rowAlloc(draws: SeededDraws): KvOperation {
  return { op: "row.alloc", args: { reqs: draws.requestNames(draws.prng.weighted([0, 6, 2, 1])) } };
}

function rowFree(draws: SeededDraws): KvOperation | null {
  const request = draws.request((each) => draws.model.isEmpty(each));
  return request === undefined ? null : { op: "row.free", args: { req: request.name } };
}

function stateAlloc(draws: SeededDraws): KvOperation | null {
  const request = draws.request();
  const { state } = draws.model;
  if (request === undefined || state === null) return null;
  const most = draws.amount(draws.model.bytesOf(state));
  const count = draws.prng.chance(1, 3) ? 1 : draws.prng.between(1, Math.max(1, most));
  const purpose = draws.prng.pick(PURPOSES);
  return { op: "state.alloc", args: { req: request.name, count, purpose } };
}

function statePlaces(draws: SeededDraws): StatePlace[] {
  const places: StatePlace[] = [];
  for (const request of draws.model.requests.values()) {
    for (const purpose of request.slots.keys()) places.push({ req: request.name, purpose });
  }
  return places;
}

function stateFree(draws: SeededDraws): KvOperation | null {
  const places = statePlaces(draws);
  return places.length === 0 ? null : { op: "state.free", args: draws.prng.pick(places) };
}

function stateCopy(draws: SeededDraws): KvOperation | null {
  const places = statePlaces(draws);
  if (places.length < 2) return null;
  const from = draws.prng.pick(places);
  const to = draws.prng.pick(places.filter((place) => place !== from));
  return { op: "state.copy", args: { from, to } };
}

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

/** Cuts a row's tail: every page of it is bound, and no window's cursor is passed. */
function cutTail(draws: SeededDraws, request: ModelRequest): KvOperation | null {
  const { model, prng } = draws;
  let lowest = Math.max(0, ...request.cursors);
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
  const request = draws.request((each) => each.allocated > 0);
  if (request === undefined) return null;
  const end = wholePages(request, pageSize);
  const kind = prng.weighted(model.windows.length > 0 ? [4, 4, 2, 2] : [4, 4, 1, 0]);
  if (kind === 0) return cutTail(draws, request);
  const index = kind === 3 ? prng.below(model.windows.length) : 0;
  const has = (page: number): boolean => {
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
  const request = draws.request((each) => each.allocated > 0);
  if (request === undefined) return null;
  const len = prng.chance(2, 3) ? request.allocated : prng.between(1, request.allocated);
  return { op: "window.retire", args: { req: request.name, len } };
}

function requestFinish(draws: SeededDraws): KvOperation | null {
  const request = draws.request();
  if (request === undefined) return null;
  return {
    op: "request.finish",
    args: { req: request.name, len: request.allocated, insert: false },
  };
}

function requestRetract(draws: SeededDraws): KvOperation | null {
  const request = draws.request();
  return request === undefined ? null : { op: "request.retract", args: { req: request.name } };
}

function forwardLaunch(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (model.openForward !== undefined) return null;
  if (model.forwards.length >= draws.profile.forwardsMost) return null;
  const chosen = draws.requests(6, (each) => each.allocated > 0);
  if (chosen.length === 0) return null;
  const mode =
    (["extend", "decode", "verify", "prebuilt"] as const)[prng.weighted([6, 6, 2, 1])] ?? "extend";
  const batch = chosen.map((request) => {
    const to = prng.chance(5, 6) ? request.allocated : prng.between(1, request.allocated);
    return { req: request.name, from: mode === "decode" ? to - 1 : prng.below(to), to };
  });
  return { op: "forward.launch", args: { step: draws.forwardName(), batch, mode } };
}

function forwardRecord(draws: SeededDraws): KvOperation | null {
  const forward = draws.model.forwards.find((each) => !each.recorded && !each.prebuilt);
  if (forward === undefined) return null;
  const writes = draws.prng.chance(1, 8) ? "unknown" : "known";
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
  // Without overlap nothing is recorded, so there is no event.
  if (draws.model.config.overlap !== true) return null;
  const list = draws.model.forwards.filter((each) => each.recorded);
  return list.length === 0
    ? null
    : { op: "event.fire", args: { event: draws.prng.pick(list).name, rank: 0 } };
}

function askTranslate(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const request = draws.request((each) => each.allocated > 0);
  if (request === undefined || prng.chance(1, 4)) {
    return { op: "ask.translate", args: { virtual: [[prng.between(1, 8), prng.between(1, 6)]] } };
  }
  const to = prng.between(1, request.allocated);
  const from = Math.max(0, to - prng.between(1, 6 * model.pageSize));
  return { op: "ask.translate", args: { req: request.name, from, to } };
}

const BUILDERS: Readonly<Partial<Record<KvOperationName, Builder>>> = {
  "row.alloc": rowAlloc,
  "row.free": rowFree,
  "state.alloc": stateAlloc,
  "state.free": stateFree,
  "state.copy": stateCopy,
  "tokens.extend": tokensExtend,
  "tokens.decode": tokensDecode,
  "tokens.free": tokensFree,
  "group.begin": ({ model }) => (model.isGroupOpen ? null : { op: "group.begin", args: {} }),
  "group.end": ({ model }) => (model.isGroupOpen ? { op: "group.end", args: {} } : null),
  "window.retire": windowRetire,
  "request.finish": requestFinish,
  "request.retract": requestRetract,
  "forward.launch": forwardLaunch,
  "forward.record": forwardRecord,
  "forward.barrier": forwardBarrier,
  "forward.process": forwardProcess,
  "event.fire": eventFire,
  "chain.flush": () => ({ op: "chain.flush", args: {} }),
  "chain.relieve": (draws) => ({ op: "chain.relieve", args: { demand: draws.demand() } }),
  "ask.plan": (draws) => ({ op: "ask.plan", args: { demand: draws.demand() } }),
  "ask.fits": (draws) => ({ op: "ask.fits", args: { demand: draws.demand() } }),
  "ask.fits_after_frees": (draws) => ({
    op: "ask.fits_after_frees",
    args: { demand: draws.demand(), frees: draws.demand() },
  }),
  "ask.prealloc": (draws) => ({
    op: "ask.prealloc",
    args: { demand: draws.demand(), held: draws.demand() },
  }),
  "ask.translate": askTranslate,
  "check.idle": () => ({ op: "check.idle", args: {} }),
};

/** What may stand between a launch and its recording: it neither takes nor frees. @internal */
export const FREE_OF_OPEN_FORWARD: ReadonlySet<KvOperationName> = new Set<KvOperationName>([
  "row.alloc",
  "row.free",
  "event.fire",
  "forward.record",
  "ask.plan",
  "ask.fits",
  "ask.fits_after_frees",
  "ask.prealloc",
  "ask.translate",
]);

/** A legal operation of that kind, null where the run has nothing for it. @internal */
export function legalOperation(kind: KvOperationName, draws: SeededDraws): KvOperation | null {
  return BUILDERS[kind]?.(draws) ?? null;
}
