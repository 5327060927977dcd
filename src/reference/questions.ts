// Questions: whatever the take itself would say, tried on a deep copy. `chain.relieve` and `chain.flush` stand here too,
// since they are a take without the hand-out and its opposite.
import type { Demand, FlushedBand, KvArgs, KvOk, PlanSpans } from "../base/operations.js";
import { expand } from "../base/extents.js";
import { append, type Lists, pageLists, sumOf } from "./answers.js";
import { evictEverything } from "./evict.js";
import { checkNow } from "./forwards.js";
import type { Plan } from "./layout.js";
import { parkIfEmpty } from "./pages.js";
import { usersOf } from "./signals.js";
import { flushOpportunistic } from "./rearrange.js";
import { placesOf, requestNamed } from "./rows.js";
import { layOut, take } from "./take.js";
import { fits, tryOut } from "./trial.js";
import { tokenBandsOf, type World } from "./world.js";

/** @internal */
export function chainFlush(world: World): KvOk["chain.flush"] {
  checkNow(world);
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
  const plan = layOut(world, demand);
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
    const plan = layOut(copy, demand);
    return { step: plan.step, ...spansOf(copy, plan) };
  });
  return answer ?? { step: "none" };
}

/** @internal */
export function askFits(world: World, { demand }: KvArgs["ask.fits"]): KvOk["ask.fits"] {
  return { fits: fits(world, demand) };
}

/** Credits so many pages a band, whichever: the answer follows counts alone. @internal */
export function askFitsAfterFrees(
  world: World,
  { demand, frees }: KvArgs["ask.fits_after_frees"],
): KvOk["ask.fits_after_frees"] {
  const answer = tryOut(world, (copy): true => {
    copy.hostNeeds = [];
    if (frees === "evictable") {
      copy.group = null;
      evictEverything(copy);
    } else credit(copy, frees);
    take(copy, demand);
    return true;
  });
  return { fits: answer !== null };
}

function credit(world: World, frees: Demand): void {
  for (const band of world.bands) {
    const isUsed = (page: number): boolean => usersOf(world, band, page).length > 0;
    const bound = [...band.bindings];
    const ordered = [
      ...bound.filter(([, page]) => !isUsed(page)),
      ...bound.filter(([, page]) => isUsed(page)),
    ];
    for (const [id, page] of ordered.slice(0, frees[band.name] ?? 0)) {
      band.bindings.delete(id);
      band.holes.push(page);
      if (band.role !== "window") band.freeIds.push(id);
    }
    parkIfEmpty(world, band);
  }
}

/** @internal */
export function askPrealloc(
  world: World,
  { demand, held }: KvArgs["ask.prealloc"],
): KvOk["ask.prealloc"] {
  return { fits: fits(world, sumOf(demand, held)) };
}

/** @internal */
export function askTranslate(
  world: World,
  { virtual, req, from, to }: KvArgs["ask.translate"],
): KvOk["ask.translate"] {
  if (req !== undefined) {
    const request = requestNamed(world, req);
    const { page_size: pageSize } = world.config;
    const first = Math.floor((from ?? 0) / pageSize);
    const end = Math.ceil((to ?? request.allocated) / pageSize);
    return { pages: pageLists(world, placesOf(world, request, first, end)) };
  }
  const places: Lists = {};
  for (const id of expand(virtual ?? [])) {
    for (const band of tokenBandsOf(world)) append(places, band.name, band.bindings.get(id) ?? 0);
  }
  return { pages: pageLists(world, places) };
}
