// Questions: whatever the take itself would say, tried on a deep copy. `chain.relieve` and `chain.flush` stand here too,
// since they are a take without the hand-out and its opposite.
import type { Demand, FlushedBand, KvArgs, KvOk, PlanSpans } from "../base/operations.js";
import { expand } from "../base/extents.js";
import { append, type Lists, pageLists, sumOf } from "./answers.js";
import { askedTo, noteAsked } from "./asked.js";
import { evictable, fitsAfter } from "./credit.js";
import { checkNow } from "./forwards.js";
import type { Plan } from "./layout.js";
import { flushOpportunistic } from "./rearrange.js";
import { requestNamed } from "./rows.js";
import { checkStageLoads, layOut } from "./take.js";
import { fits, tryOut } from "./trial.js";
import { tokenBandsOf, type World } from "./world.js";

/** @internal */
export function chainFlush(world: World): KvOk["chain.flush"] {
  checkNow(world);
  checkStageLoads(world);
  const answer: Record<string, FlushedBand> = {};
  for (const band of world.bands) answer[band.name] = flushOpportunistic(world, band);
  return answer;
}

/** @internal */
export function chainRelieve(
  world: World,
  { demand }: KvArgs["chain.relieve"],
): KvOk["chain.relieve"] {
  checkNow(world);
  checkStageLoads(world);
  const plan = askedTo(world, "take", demand, () => layOut(world, demand));
  return { ...spansOf(world, plan), step: plan.step };
}

// Planned spans of all bands, and the moves made so far in this operation, which are the relief's.
function spansOf(world: World, plan: Plan): PlanSpans {
  const spans: Record<string, readonly [number, number]> = {};
  const moves: Record<string, number> = {};
  for (const { band, low, high } of plan.places) spans[band.name] = [low, high - low];
  for (const band of world.bands) moves[band.name] = 0;
  for (const effect of world.fx) {
    if (effect[0] === "move") moves[effect[1]] = (moves[effect[1]] ?? 0) + effect[2].length;
  }
  return { spans, moves };
}

/** @internal */
export function askPlan(world: World, { demand }: KvArgs["ask.plan"]): KvOk["ask.plan"] {
  const answer = tryOut(world, (copy) => {
    checkStageLoads(copy);
    const plan = layOut(copy, demand);
    return { step: plan.step, ...spansOf(copy, plan) };
  });
  noteAsked(world, "plan", demand, answer !== null);
  return answer ?? { step: "none" };
}

/** @internal */
export function askFits(world: World, { demand }: KvArgs["ask.fits"]): KvOk["ask.fits"] {
  return askedFits(world, demand);
}

function askedFits(world: World, demand: Demand): KvOk["ask.fits"] {
  const answer = fits(world, demand);
  noteAsked(world, "fits", demand, answer);
  return { fits: answer };
}

/** Credits so many pages a band, whichever: the answer follows counts alone. @internal */
export function askFitsAfterFrees(
  world: World,
  { demand, frees }: KvArgs["ask.fits_after_frees"],
): KvOk["ask.fits_after_frees"] {
  const credits = frees === "evictable" ? evictable(world) : frees;
  const answer = fitsAfter(world, demand, credits);
  noteAsked(world, "fits_after_frees", demand, answer);
  return { fits: answer };
}

/** @internal */
export function askPrealloc(
  world: World,
  { demand, held }: KvArgs["ask.prealloc"],
): KvOk["ask.prealloc"] {
  return askedFits(world, sumOf(demand, held));
}

/** @internal */
export function askTranslate(
  world: World,
  { virtual, req, from, to }: KvArgs["ask.translate"],
): KvOk["ask.translate"] {
  const places: Lists = {};
  const ids = req === undefined ? expand(virtual ?? []) : rowIds(world, req, from, to);
  for (const id of ids) {
    for (const band of tokenBandsOf(world)) append(places, band.name, band.bindings.get(id) ?? 0);
  }
  return { pages: pageLists(world, places) };
}

// Ids of a row's positions. What was freed but waits, for a group's end or a transfer, is bound still.
function rowIds(world: World, req: string, from?: number, to?: number): number[] {
  const request = requestNamed(world, req);
  const { page_size: pageSize } = world.config;
  const first = Math.floor((from ?? 0) / pageSize);
  const count = Math.ceil((to ?? request.allocated) / pageSize) - first;
  return Array.from({ length: Math.max(0, count) }, (_, at) => request.virtual[first + at] ?? 0);
}
