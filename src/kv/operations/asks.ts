// Questions: they change nothing, and their answer is what the take would do now.
import type { Answer, Extents, KvArgs, OperationError } from "../../base/operations.js";
import { ExtentBuilder, toExtents } from "../../base/extents.js";
import type { Band } from "../alloc/band.js";
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
  const frees = args.frees === "evictable" ? core.tree.evictable : chain.vector(args.frees);
  const demand = chain.vector(args.demand);
  const fits = chain.fitsReclaimed(demand, frees);
  chain.stages?.fold("fits_after_frees", demand, fits);
  return { ok: { fits } };
}

/** Physical pages of virtual ones, or of a row's token range, in every token band; 0 where unbound. @internal */
export function askTranslate(core: KvCore, args: KvArgs["ask.translate"]): Answer<"ask.translate"> {
  const asked = askedPages(core, args);
  if ("err" in asked) return asked;
  const pages: Record<string, Extents> = {};
  for (const band of core.tokenBands) pages[band.plan.name] = translated(band, asked.virtual);
  return { ok: { pages } };
}

function askedPages(
  core: KvCore,
  args: KvArgs["ask.translate"],
): { readonly virtual: Extents } | { readonly err: OperationError } {
  if (args.req === undefined) return { virtual: args.virtual ?? [] };
  const request = core.requests.find(args.req);
  if (request === undefined) return { err: invalid("unknown_request", { req: args.req }) };
  const to = args.to ?? request.allocated;
  const from = args.from ?? 0;
  if (to > request.allocated || from > to) return { err: invalid("beyond_row", { req: args.req }) };
  const first = Math.floor(from / core.config.pageSize);
  const virtual: number[] = [];
  for (let index = first; index < core.pagesOf(to); index++)
    virtual.push(request.pages[index] ?? 0);
  return { virtual: toExtents(virtual) };
}

/** Ids beyond the id space are unbound by arithmetic, however many an extent names. */
function translated(band: Band, virtual: Extents): Extents {
  const pages = new ExtentBuilder();
  const known = band.v2p.length;
  for (const [first, count] of virtual) {
    const step = count < 0 ? -1 : 1;
    const many = Math.abs(count);
    if (first === 0) {
      pages.addUnbound(many);
      continue;
    }
    const outsideFirst = step > 0 ? 0 : Math.min(many, Math.max(0, first - known + 1));
    const inside = step > 0 ? Math.min(many, Math.max(0, known - first)) : many - outsideFirst;
    pages.addUnbound(outsideFirst);
    for (let i = 0; i < inside; i++) {
      const id = first + step * (outsideFirst + i);
      // A page whose free waits for a group's end or a transfer is still bound.
      const page = id > 0 ? band.v2p[id]! : 0;
      if (page > 0) pages.add(page);
      else pages.addUnbound(1);
    }
    pages.addUnbound(many - outsideFirst - inside);
  }
  return pages.take();
}
