// Operations that break one contract on purpose, each with the rule that must answer. A builder answers null where
// the run gives no occasion.
import type { InvalidRule, KvOperation, KvOperationName } from "../base/operations.js";
import type { Builder, SeededDraws } from "./seeded-draws.js";
import { isInAnyWindow, wholePages } from "./seeded-draws.js";
import { FURTHER_RULES, FURTHER_TAKES } from "./seeded-illegal-further.js";
import { legalOperation } from "./seeded-legal.js";
import { holdsNothing, protectedPages } from "./seeded-rows.js";

/** @internal */
export interface BrokenOperation {
  readonly operation: KvOperation;
  readonly rule: InvalidRule;
}

function unknownRequest(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const closed = model.closedNames;
  if (closed.length === 0) return null;
  const req = prng.pick(closed);
  switch (prng.below(model.state === null ? 6 : 7)) {
    case 0:
      return { op: "row.free", args: { req } };
    case 1:
      return { op: "tokens.extend", args: { batch: [{ req, from: 0, to: model.pageSize }] } };
    case 2:
      return { op: "tokens.decode", args: { batch: [{ req, len: 1 }] } };
    case 3:
      return { op: "window.retire", args: { req, len: 1 } };
    case 4:
      return { op: "request.finish", args: { req, len: 1, insert: false } };
    case 5:
      return { op: "tokens.free", args: { req, from: 0, to: model.pageSize, bands: "all" } };
    default:
      return { op: "state.alloc", args: { req, count: 1, purpose: "main" } };
  }
}

function rowInUse(draws: SeededDraws): KvOperation | null {
  const holder = draws.request((each) => !holdsNothing(each));
  if (holder === undefined) return null;
  if (draws.prng.chance(1, 2)) return { op: "row.free", args: { req: holder.name } };
  return { op: "row.alloc", args: { reqs: [holder.name] } };
}

function extendNotAtLength(draws: SeededDraws): KvOperation | null {
  const { row_tokens: rowTokens } = draws.model.config;
  const request = draws.request((each) => each.allocated + 3 <= rowTokens);
  if (request === undefined) return null;
  const { name: req, allocated } = request;
  if (draws.prng.chance(1, 2))
    return { op: "tokens.decode", args: { batch: [{ req, len: allocated + 2 }] } };
  const from = allocated > 0 && draws.prng.chance(1, 2) ? allocated - 1 : allocated + 1;
  return { op: "tokens.extend", args: { batch: [{ req, from, to: allocated + 3 }] } };
}

function beyondRow(draws: SeededDraws): KvOperation | null {
  const { model } = draws;
  const request = draws.request();
  if (request === undefined) return null;
  const { name: req, allocated } = request;
  if (draws.prng.chance(1, 2)) {
    const to = model.config.row_tokens + 1;
    return { op: "tokens.extend", args: { batch: [{ req, from: allocated, to }] } };
  }
  const batch = [{ req, from: allocated, to: allocated + 1 }];
  return { op: "forward.launch", args: { step: draws.forwardName(), batch, mode: "extend" } };
}

function freeOfUnboundPage(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  const { pageSize } = model;
  const request = draws.request();
  if (request === undefined) return null;
  const { name: req } = request;
  const hole = draws.pageRun(wholePages(request, pageSize), (page) => request.full[page] === false);
  if (hole !== undefined) {
    const to = hole.to * pageSize;
    return { op: "tokens.free", args: { req, from: hole.from * pageSize, to, bands: "all" } };
  }
  if (model.state !== null && !request.slots.has("cow") && prng.chance(1, 3)) {
    return { op: "state.free", args: { req, purpose: "cow" } };
  }
  const end = model.pagesOf(request.allocated);
  const from = end * pageSize;
  return { op: "tokens.free", args: { req, from, to: from + pageSize, bands: "all" } };
}

function freeSplitsPage(draws: SeededDraws): KvOperation | null {
  const { pageSize } = draws.model;
  if (pageSize === 1) return null;
  const request = draws.request((each) => each.full[0] === true && each.allocated > 1);
  if (request === undefined) return null;
  const most = Math.min(request.allocated, pageSize) - 1;
  const to = draws.prng.between(1, most);
  return { op: "tokens.free", args: { req: request.name, from: 0, to, bands: "all" } };
}

/** A full free of pages that some window still holds. */
function windowSegmentReleased(draws: SeededDraws): KvOperation | null {
  const { pageSize } = draws.model;
  const request = draws.loose((each) => each.full.length > 1);
  if (request === undefined) return null;
  const end = wholePages(request, pageSize);
  const run = draws.pageRun(
    end,
    (page) => request.full[page] === true && isInAnyWindow(request, page),
  );
  if (run === undefined) return null;
  const args = { req: request.name, from: run.from * pageSize, to: run.to * pageSize };
  return { op: "tokens.free", args: { ...args, bands: "full" } };
}

/** A window free of pages that it has released. */
function windowSegmentBound(draws: SeededDraws): KvOperation | null {
  const { model } = draws;
  const window = model.windows[0];
  const request = draws.loose((each) => each.full.length > 1);
  if (window === undefined || request === undefined) return null;
  const end = wholePages(request, model.pageSize);
  const has = (page: number): boolean =>
    page >= protectedPages(request) &&
    request.full[page] === true &&
    request.windows[0]?.[page] === false;
  const run = draws.pageRun(end, has);
  if (run === undefined) return null;
  const args = { req: request.name, from: run.from * model.pageSize, to: run.to * model.pageSize };
  return { op: "tokens.free", args: { ...args, bands: [window.name] } };
}

function launchWhileOpen(draws: SeededDraws): KvOperation | null {
  const request = draws.request((each) => each.allocated > 0);
  if (draws.model.openForward === undefined || request === undefined) return null;
  const batch = [{ req: request.name, from: 0, to: request.allocated }];
  return { op: "forward.launch", args: { step: draws.forwardName(), batch, mode: "extend" } };
}

function takeWhileOpen(draws: SeededDraws): KvOperation | null {
  if (draws.model.openForward === undefined) return null;
  const kinds: KvOperationName[] = [
    "tokens.extend",
    "tokens.decode",
    "tokens.free",
    "chain.flush",
    "chain.relieve",
  ];
  kinds.push("state.alloc", "state.free", "group.end", "request.retract", "request.finish");
  if (draws.isWhole) kinds.push(...FURTHER_TAKES);
  return legalOperation(draws.prng.pick(kinds), draws);
}

function processOutOfOrder(draws: SeededDraws): KvOperation | null {
  const { forwards, doneForwards } = draws.model;
  // A prebuilt step is inert: recorded ones alone have an order.
  const recorded = forwards.filter((forward) => forward.recorded);
  const candidates = recorded.slice(1).map((forward) => forward.name);
  if (draws.model.openForward !== undefined) candidates.push(draws.model.openForward.name);
  const last = doneForwards.at(-1);
  if (last !== undefined) candidates.push(last);
  if (candidates.length === 0) return null;
  return { op: "forward.process", args: { step: draws.prng.pick(candidates) } };
}

function recordOfPrebuilt(draws: SeededDraws): KvOperation | null {
  const forward = draws.model.forwards.find((each) => each.prebuilt);
  return forward === undefined
    ? null
    : { op: "forward.record", args: { step: forward.name, writes: "known" } };
}

function groupState(draws: SeededDraws): KvOperation {
  return draws.model.isGroupOpen ? { op: "group.begin", args: {} } : { op: "group.end", args: {} };
}

function nothingTracked(draws: SeededDraws): KvOperation | null {
  if (draws.model.state === null) return null;
  const empty = draws.request((each) => !each.slots.has("cow"));
  const held = draws.request((each) => each.slots.has("main"));
  if (empty === undefined || held === undefined) return null;
  const from = { req: empty.name, purpose: "cow" } as const;
  return { op: "state.copy", args: { from, to: { req: held.name, purpose: "main" } } };
}

function nameState(draws: SeededDraws): KvOperation | null {
  const { prng, model } = draws;
  const last = model.doneForwards.at(-1);
  if (last !== undefined && prng.chance(1, 2))
    return { op: "forward.barrier", args: { step: last } };
  // Without overlap a recording does nothing, and so does a second one.
  if (model.config.overlap !== true) return null;
  const recorded = model.forwards.find((each) => each.recorded);
  const step = recorded?.name ?? last;
  return step === undefined ? null : { op: "forward.record", args: { step, writes: "known" } };
}

const WHEN_CLOSED: readonly (readonly [InvalidRule, Builder])[] = [
  ["unknown_request", unknownRequest],
  ["row_in_use", rowInUse],
  ["extend_not_at_length", extendNotAtLength],
  ["beyond_row", beyondRow],
  ["free_of_unbound_page", freeOfUnboundPage],
  ["free_of_unbound_page", freeOfUnboundPage], // double frees come first in practice
  ["free_splits_page", freeSplitsPage],
  ["window_segment_released", windowSegmentReleased],
  ["window_segment_bound", windowSegmentBound],
  ["process_out_of_order", processOutOfOrder],
  ["record_of_prebuilt", recordOfPrebuilt],
  ["group_state", groupState],
  ["nothing_tracked", nothingTracked],
  ["name_state", nameState],
];
const WHEN_OPEN: readonly (readonly [InvalidRule, Builder])[] = [
  ["launch_open", launchWhileOpen],
  ["take_between_launch_and_record", takeWhileOpen],
  ["process_out_of_order", processOutOfOrder],
  ["row_in_use", rowInUse],
];

/** An operation that must be answered `invalid`, null where this draw finds no occasion. @internal */
export function illegalOperation(draws: SeededDraws): BrokenOperation | null {
  const isClosed = draws.model.openForward === undefined;
  const list = isClosed ? WHEN_CLOSED : WHEN_OPEN;
  const isFurther = draws.isWhole && isClosed && draws.prng.chance(1, 2);
  const [rule, build] = draws.prng.pick(isFurther ? FURTHER_RULES : list);
  const operation = build(draws);
  return operation === null ? null : { operation, rule };
}
