// Questions: they change nothing, and their answer is what the take would do now.
import type { Answer, Extents, KvArgs } from "../../base/operations.js";
import { idsOf, toExtents } from "../../base/extents.js";
import { invalid, type KvCore } from "../core.js";
import { planAnswer } from "./chain-ops.js";

/** @internal */
export function askPlan(core: KvCore, args: KvArgs["ask.plan"]): Answer<"ask.plan"> {
  const { chain } = core;
  const demand = chain.vector(args.demand);
  const final = chain.finalPlan(demand);
  if (!("plan" in final)) return { ok: { step: "none" } };
  return { ok: { step: final.plan.step, ...planAnswer(core, final.plan, final.moves) } };
}

/** @internal */
export function askFits(core: KvCore, args: KvArgs["ask.fits"]): Answer<"ask.fits"> {
  return { ok: { fits: core.chain.fits(core.chain.vector(args.demand)) } };
}

/** Both demands together: each side's own figure would count the shared gap twice. @internal */
export function askPrealloc(core: KvCore, args: KvArgs["ask.prealloc"]): Answer<"ask.prealloc"> {
  const held = core.chain.vector(args.held);
  const demand = core.chain.vector(args.demand).map((pages, index) => pages + held[index]!);
  return { ok: { fits: core.chain.fits(demand) } };
}

/** Credits frees to the snapshot: live pages become free ones, clipped at what is live; ids follow. @internal */
export function askFitsAfterFrees(
  core: KvCore,
  args: KvArgs["ask.fits_after_frees"],
): Answer<"ask.fits_after_frees"> {
  const { chain } = core;
  // Without a prefix tree nothing is evictable.
  const frees = chain.vector(args.frees === "evictable" ? {} : args.frees);
  return {
    ok: { fits: chain.fitsReclaimed(chain.vector(args.demand), frees, "fits_after_frees") },
  };
}

/** Physical pages of virtual ones, or of a row's token range, in every token band; 0 where unbound. @internal */
export function askTranslate(core: KvCore, args: KvArgs["ask.translate"]): Answer<"ask.translate"> {
  let virtual: number[];
  if (args.req === undefined) {
    virtual = [...idsOf(args.virtual ?? [])];
  } else {
    const request = core.requests.find(args.req);
    if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
    const to = args.to ?? request.allocated;
    const from = args.from ?? 0;
    if (to > request.allocated || from > to)
      return { err: invalid("beyond_row", { req: args.req }) };
    const first = Math.floor(from / core.config.pageSize);
    virtual = [];
    for (let index = first; index < core.pagesOf(to); index++)
      virtual.push(request.pages[index] ?? 0);
  }
  const pages: Record<string, Extents> = {};
  for (const band of core.tokenBands) {
    const bound = (id: number): boolean =>
      id > 0 && id < band.v2p.length && (!band.plan.isWindow || core.isWindowBound(band, id));
    pages[band.plan.name] = toExtents(virtual.map((id) => (bound(id) ? band.v2p[id]! : 0)));
  }
  return { ok: { pages } };
}
