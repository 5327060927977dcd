// Fences as others see them: for every byte the set of its readers, in maximal intervals.
import { byCodeUnit } from "../base/canonical-json.js";
import { ascending, type World } from "./world.js";

/** @internal */
export interface SharedFence {
  readonly from: number;
  readonly to: number; // exclusive
  readonly readers: readonly string[];
}

/** Maximal intervals with one and the same set of readers, by first byte. @internal */
export function sharedFences(world: World): SharedFence[] {
  const edges = [...new Set(world.fences.flatMap((fence) => [fence.from, fence.to]))];
  edges.sort(ascending);
  const shared: SharedFence[] = [];
  edges.slice(1).forEach((to, index) => {
    const from = edges[index]!; // the edge before
    const readers = [
      ...new Set(
        world.fences
          .filter((fence) => fence.from <= from && to <= fence.to)
          .map((fence) => fence.reader),
      ),
    ].sort(byCodeUnit);
    const last = shared.at(-1);
    if (readers.length === 0) return;
    if (last?.to === from && last.readers.join() === readers.join())
      shared[shared.length - 1] = { ...last, to };
    else shared.push({ from, to, readers });
  });
  return shared;
}
