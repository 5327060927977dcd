// tokens.extend, tokens.decode: pages for token positions under the owner's virtual ids.
import type { Answer, KvArgs, OperationError, PageLists } from "../../base/operations.js";
import { invalid, type KvCore } from "../core.js";
import type { Request } from "../requests.js";

/** One request's growth in pages: row pages `[first, end)`, window pages from `windowFirst` on. @internal */
export interface Growth {
  readonly request: Request;
  readonly to: number; // tokens
  readonly first: number;
  readonly end: number;
  readonly windowFirst: number;
  readonly tailed: boolean; // whether window pages were limited to a tail
}

/** @internal */
export function tokensExtend(core: KvCore, args: KvArgs["tokens.extend"]): Answer<"tokens.extend"> {
  const growths: Growth[] = [];
  const broken = new Broken();
  for (const { req, from, to, tail } of args.batch) {
    const request = core.requests.find(req);
    if (request === undefined) {
      broken.note(0, invalid("unknown_request", { req }));
      continue;
    }
    if (from !== lengthIn(growths, request) || to < from) {
      broken.note(1, invalid("extend_not_at_length", { req }));
    }
    if (to > core.config.rowTokens) broken.note(2, invalid("beyond_row", { req }));
    growths.push(growthOf(core, request, from, to, tail));
    request.grownBy = growths;
  }
  return broken.first === null ? grow(core, growths) : { err: broken.first };
}

/** A row's growth from `from` to `to` tokens, window pages for the last `tail` of them only. @internal */
export function growthOf(
  core: KvCore,
  request: Request,
  from: number,
  to: number,
  tail: number | undefined,
): Growth {
  const first = core.pagesOf(from);
  const tailFirst =
    tail === undefined ? first : Math.max(0, Math.floor((to - tail) / core.config.pageSize));
  return {
    request,
    to,
    first,
    end: core.pagesOf(to),
    windowFirst: Math.max(first, tailFirst),
    tailed: tail !== undefined,
  };
}

/** @internal */
export function tokensDecode(core: KvCore, args: KvArgs["tokens.decode"]): Answer<"tokens.decode"> {
  return decodeInPlace(core, args.batch) ?? decodeWithPages(core, args.batch);
}

const NO_PAGES: Readonly<Record<string, PageLists>> = Object.freeze({});

/** The common step: every token lies in a page that its request has. Null where a page or a rule is at stake. */
function decodeInPlace(
  core: KvCore,
  batch: KvArgs["tokens.decode"]["batch"],
): Answer<"tokens.decode"> | null {
  if (core.chain.steps.open !== null || core.chain.stages !== null) return null;
  const { pageSize, rowTokens } = core.config;
  const found = FOUND;
  for (let index = 0; index < batch.length; index++) {
    const { req, len } = batch[index]!; // index is in range
    const request = core.requests.find(req);
    if (request?.allocated !== len - 1 || len > rowTokens || request.grownBy === batch) return null;
    if ((len - 1) % pageSize === 0) return null;
    request.grownBy = batch;
    found[index] = request;
  }
  for (let index = 0; index < batch.length; index++) {
    core.requests.setAllocated(found[index]!, batch[index]!.len); // found above
  }
  return { ok: { pages: NO_PAGES, step: "no_move" } };
}

// Requests of the batch under way; reused, since every decode step would make one.
const FOUND: Request[] = [];

function decodeWithPages(
  core: KvCore,
  batch: KvArgs["tokens.decode"]["batch"],
): Answer<"tokens.decode"> {
  const growths: Growth[] = [];
  const broken = new Broken();
  for (const { req, len } of batch) {
    const request = core.requests.find(req);
    if (request === undefined) {
      broken.note(0, invalid("unknown_request", { req }));
      continue;
    }
    if (len !== lengthIn(growths, request) + 1)
      broken.note(1, invalid("extend_not_at_length", { req }));
    if (len > core.config.rowTokens) broken.note(2, invalid("beyond_row", { req }));
    const first = core.pagesOf(len - 1);
    growths.push({
      request,
      to: len,
      first,
      end: core.pagesOf(len),
      windowFirst: first,
      tailed: false,
    });
  }
  return broken.first === null ? grow(core, growths) : { err: broken.first };
}

/** A request named twice in a batch grows from its first entry's end. */
function lengthIn(growths: readonly Growth[], request: Request): number {
  if (request.grownBy !== growths) return request.allocated;
  for (let index = growths.length - 1; index >= 0; index--) {
    if (growths[index]!.request === request) return growths[index]!.to;
  }
  return request.allocated;
}

/** Keeps the broken rule that answers: the first in the list of rules, for the first entry of the batch. */
class Broken {
  first: OperationError | null = null;
  #rank = Number.MAX_SAFE_INTEGER;
  note(rank: number, error: OperationError): void {
    if (rank >= this.#rank) return;
    this.#rank = rank;
    this.first = error;
  }
}

function grow(
  core: KvCore,
  growths: readonly Growth[],
): Answer<"tokens.extend"> & Answer<"tokens.decode"> {
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  const { chain } = core;
  const demand = growthDemand(core, growths);
  if (demand[chain.owner.index] === 0) {
    for (const growth of growths) settleLengths(core, growth);
    return { ok: { pages: {}, step: "no_move" } };
  }
  const plan = chain.price(demand);
  if (!("step" in plan)) return { err: plan };
  const taken = chain.take(demand, plan);
  const next = chain.bands.map(() => 0); // pages handed out so far, by band
  const pages: Record<string, PageLists> = {};
  for (const growth of growths) {
    if (growth.end > growth.first) {
      bindGrowth(core, growth, taken.pages, next);
      const lists = core.lists.take();
      const name = growth.request.name;
      // A request named twice in one batch answers with both parts, joined in order.
      pages[name] = pages[name] === undefined ? lists : joined(pages[name], lists);
    }
    settleLengths(core, growth);
  }
  return { ok: { pages, step: taken.step, ...core.ended() } };
}

/** Pages by band index that growths take together. @internal */
export function growthDemand(core: KvCore, growths: readonly Growth[]): number[] {
  let owned = 0;
  let windowed = 0;
  for (const growth of growths) {
    owned += growth.end - growth.first;
    windowed += Math.max(0, growth.end - growth.windowFirst);
  }
  return core.chain.bands.map((band) =>
    band.plan.isOwner ? owned : band.plan.isWindow ? windowed : 0,
  );
}

/** Binds the taken pages of one request in token order and lists them. @internal */
export function bindGrowth(
  core: KvCore,
  growth: Growth,
  taken: readonly (readonly number[])[],
  next: number[],
): void {
  const { chain, lists } = core;
  const { request } = growth;
  const skipped = Math.min(growth.windowFirst, growth.end) - growth.first;
  if (skipped > 0)
    for (const band of core.windowBands) lists.bands[band.index]!.addUnbound(skipped);
  for (let index = growth.first; index < growth.end; index++) {
    const virtual = chain.virtual.mint(request, index);
    request.pages[index] = virtual;
    lists.virtual.add(virtual);
    for (const band of core.tokenBands) {
      if (band.plan.isWindow && index < growth.windowFirst) continue;
      const page = taken[band.index]![next[band.index]!]!;
      next[band.index]! += 1;
      band.bind(virtual, page, chain.steps.clock);
      lists.bands[band.index]!.add(page);
    }
  }
}

/** Sets the row's length, and its window cursors where window pages were left out. @internal */
export function settleLengths(core: KvCore, growth: Growth): void {
  core.requests.setAllocated(growth.request, growth.to);
  if (!growth.tailed) return;
  for (const band of core.windowBands) {
    core.requests.setCursor(growth.request, band.index, growth.windowFirst * core.config.pageSize);
  }
}

function joined(left: PageLists, right: PageLists): PageLists {
  const lists: Record<string, PageLists[string]> = { ...left };
  for (const [name, extents] of Object.entries(right))
    lists[name] = [...(lists[name] ?? []), ...extents];
  return lists;
}
