// Whether a demand would fit after frees of which only the counts are known: so many pages a band become holes that lie
// nobody knows where, so no frontier moves for them.
import type { Demand } from "../base/operations.js";
import { evictEverything } from "./evict.js";
import { usersOf } from "./signals.js";
import { fitsCounted } from "./take.js";
import { fits, tryOut } from "./trial.js";
import { liveCount, type World } from "./world.js";
import { deepCopy } from "./copy.js";

const ANYWHERE = -1; // stands for a hole whose place is not known

/** What the tree could give back a band. @internal */
export function evictable(world: World): Demand {
  const emptied = deepCopy(world);
  return evictEverything(emptied).counts;
}

/**
 * Whether the demand fits once so many pages a band are free, of what is live. Where nothing is, the take itself answers,
 * stalled transfers included; otherwise counts answer. @internal
 */
export function fitsAfter(world: World, demand: Demand, frees: Demand): boolean {
  const isNothing = world.bands.every(
    (band) => Math.min(frees[band.name] ?? 0, liveCount(band)) === 0,
  );
  if (isNothing) return fits(world, demand);
  const answer = tryOut(world, (copy) => {
    credit(copy, frees);
    return fitsCounted(copy, demand);
  });
  return answer === true;
}

function credit(world: World, frees: Demand): void {
  for (const band of world.bands) {
    const isUsed = (page: number): boolean => usersOf(world, band, page).length > 0;
    const bound = band.bindings.entries();
    const ordered = [
      ...bound.filter(([, page]) => !isUsed(page)),
      ...bound.filter(([, page]) => isUsed(page)),
    ];
    const count = frees[band.name] ?? 0;
    for (const [id] of ordered.slice(0, count)) {
      band.bindings.delete(id);
      band.holes.push(ANYWHERE);
      if (band.role !== "window") band.freeIds.push(id);
    }
    // What a load holds without an id stays where it is; as a count it is free as well.
    const rest = Math.min(Math.max(0, count - ordered.length), band.reserved.length);
    for (let credited = 0; credited < rest; credited++) band.holes.push(ANYWHERE);
  }
}
