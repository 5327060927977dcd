// Trying a piece of work on a deep copy: how every question is answered.
import type { Demand } from "../base/operations.js";
import { Refusal } from "./refusal.js";
import { take } from "./take.js";
import type { World } from "./world.js";
import { deepCopy } from "./copy.js";

/** What a piece of work on a copy of the world gives; null where it is refused. @internal */
export function tryOut<T>(world: World, work: (copy: World) => T): T | null {
  try {
    return work(deepCopy(world));
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** Whether the take of this demand succeeds now. @internal */
export function fits(world: World, demand: Demand): boolean {
  return tryOut(world, (copy) => take(copy, demand)) !== null;
}
