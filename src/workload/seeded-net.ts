// Legal operations on network transfers: sends and receives in every phase, with none, one or several writers.
import type { KvOperation, StatePurpose } from "../base/operations.js";
import type { Builders, SeededDraws } from "./seeded-draws.js";
import type { ModelTransfer } from "./seeded-net-books.js";
import type { ModelRequest } from "./seeded-rows.js";

function mayTransfer(draws: SeededDraws): boolean {
  return !draws.model.hasStages;
}

/** None as a rule: then the transfer has one without a name. */
function writers(draws: SeededDraws): { readonly writers?: readonly string[] } {
  const count = draws.prng.weighted([3, 1, 2, 1]);
  if (count === 0) return {};
  return { writers: Array.from({ length: count }, () => draws.writerNames.fresh()) };
}

function netSend(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (!mayTransfer(draws)) return null;
  const request = draws.request((each) => each.allocated > 0 && !model.host.reserves(each));
  const range = request === undefined ? null : boundRange(draws, request);
  if (request === undefined || range === null) return null;
  const purposes: readonly StatePurpose[] = [...request.slots.keys()];
  const state = purposes.length > 0 && prng.chance(1, 2) ? { state: prng.pick(purposes) } : {};
  const held = prng.chance(1, 3) && !model.host.isLoading(request) ? { held: true } : {};
  return {
    op: "net.send",
    args: {
      transfer: draws.transferNames.fresh(),
      req: request.name,
      ...range,
      ...state,
      ...held,
      ...writers(draws),
    },
  };
}

/** Token positions whose pages are all bound in the full band. */
function boundRange(
  draws: SeededDraws,
  request: ModelRequest,
): { readonly from: number; readonly to: number } | null {
  const { prng } = draws;
  const { pageSize } = draws.model;
  const run = draws.pageRun(request.full.length, (page) => request.full[page] === true);
  if (run === undefined) return null;
  const from = run.from * pageSize + (prng.chance(1, 3) ? prng.below(pageSize) : 0);
  const last = run.to * pageSize - (prng.chance(1, 3) ? prng.below(pageSize) : 0);
  const to = Math.min(last, request.allocated);
  return from < to ? { from, to } : null;
}

function netReceive(draws: SeededDraws): KvOperation | null {
  const { model, prng } = draws;
  if (!mayTransfer(draws)) return null;
  const { row_tokens: rowTokens } = model.config;
  const request = draws.request((each) => each.allocated < rowTokens);
  if (request === undefined) return null;
  const pages = Math.min(draws.amount(model.tokenPageBytes), 12);
  const to = Math.min(rowTokens, draws.lengthAfter(request, pages));
  const isTailed = model.windows.length > 0 && prng.chance(1, 2);
  const state = model.state !== null && prng.chance(1, 2) ? { state: prng.between(1, 2) } : {};
  return {
    op: "net.receive",
    args: {
      transfer: draws.transferNames.fresh(),
      req: request.name,
      from: request.allocated,
      to,
      ...(isTailed ? { tail: prng.between(0, 4 * model.pageSize) } : {}),
      ...state,
      ...writers(draws),
    },
  };
}

function transferOf(
  draws: SeededDraws,
  passes: (transfer: ModelTransfer) => boolean,
): ModelTransfer | null {
  const list = [...draws.model.net.open.values()].filter(passes);
  return list.length === 0 ? null : draws.prng.pick(list);
}

function netPublish(draws: SeededDraws): KvOperation | null {
  const transfer = transferOf(draws, (each) => !each.isPublished);
  if (transfer === null) return null;
  const mayDefer = draws.model.config.overlap === true;
  const deferred = mayDefer && draws.prng.chance(1, 2) ? { deferred: true } : {};
  return { op: "net.publish", args: { transfer: transfer.name, ...deferred } };
}

function netStall(draws: SeededDraws): KvOperation | null {
  const transfer = transferOf(draws, (each) => !each.isStalled);
  return transfer === null ? null : { op: "net.stall", args: { transfer: transfer.name } };
}

function netEnd(draws: SeededDraws): KvOperation | null {
  const { prng, model } = draws;
  const { over } = model.net;
  if (over.length > 0 && prng.chance(1, 8)) return lateEnd(draws, prng.pick(over));
  const transfer = transferOf(draws, () => true);
  if (transfer === null) return null;
  const { name, named } = transfer;
  if (prng.chance(1, 6)) return { op: "net.end", args: { transfer: name, outcome: "timeout" } };
  // Nobody can have finished what nobody was told of, but a peer may give up before.
  const outcome = transfer.isPublished && prng.chance(5, 6) ? "ok" : "failed";
  if (named.length === 0) return { op: "net.end", args: { transfer: name, outcome } };
  return { op: "net.end", args: { transfer: name, writer: prng.pick(named), outcome } };
}

/** An end of a transfer that is over: late, without effect. */
function lateEnd(draws: SeededDraws, transfer: string): KvOperation {
  const outcome = draws.prng.chance(1, 2) ? "ok" : "failed";
  return { op: "net.end", args: { transfer, outcome } };
}

/** @internal */
export const NET_BUILDERS: Builders = {
  "net.send": netSend,
  "net.receive": netReceive,
  "net.publish": netPublish,
  "net.stall": netStall,
  "net.end": netEnd,
};
