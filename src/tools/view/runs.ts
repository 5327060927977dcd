// Runs of whole numbers: sorted, disjoint, cut by one another. What extents are when their order does not matter.
import type { Extents } from "../../base/values.js";

/** `count` ids from `first` upwards. @internal */
export interface Run {
  readonly first: number;
  readonly count: number;
}

/** The runs of an extent list, each ascending; unbound places are left out. Their order in the list is kept. @internal */
export function ascendingRuns(extents: Extents): Run[] {
  const runs: Run[] = [];
  for (const [first, count] of extents) {
    if (first === 0 || count === 0) continue;
    runs.push(count > 0 ? { first, count } : { first: first + count + 1, count: -count });
  }
  return runs;
}

/** Runs by their first id, touching and overlapping ones joined. @internal */
export function joinedRuns(runs: readonly Run[]): Run[] {
  const joined: { first: number; count: number }[] = [];
  for (const { first, count } of [...runs].sort((left, right) => left.first - right.first)) {
    const last = joined.at(-1);
    if (last !== undefined && first <= last.first + last.count)
      last.count = Math.max(last.count, first + count - last.first);
    else joined.push({ first, count });
  }
  return joined;
}

/** The parts of `run`, in order, each with the entry of `cuts` that covers it, or null. `cuts` are sorted and disjoint.
 * @internal */
export function cutBy<T extends Run>(
  run: Run,
  cuts: readonly T[],
): { readonly first: number; readonly count: number; readonly by: T | null }[] {
  const parts: { first: number; count: number; by: T | null }[] = [];
  const end = run.first + run.count;
  let at = run.first;
  for (let index = firstReaching(cuts, at); index < cuts.length && at < end; index++) {
    const cut = cuts[index]!; // the index is in range
    if (cut.first >= end) break;
    if (cut.first > at) parts.push({ first: at, count: cut.first - at, by: null });
    const from = Math.max(at, cut.first);
    const to = Math.min(end, cut.first + cut.count);
    parts.push({ first: from, count: to - from, by: cut });
    at = to;
  }
  if (at < end) parts.push({ first: at, count: end - at, by: null });
  return parts;
}

/** Index of the first run that ends beyond `id`. @internal */
export function firstReaching(runs: readonly Run[], id: number): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const run = runs[middle]!; // the index is in range
    if (run.first + run.count > id) high = middle;
    else low = middle + 1;
  }
  return low;
}
