// Pieces of answers: page lists in canonical order, demands added up.
import { toExtents } from "../base/extents.js";
import type { Demand, PageLists } from "../base/operations.js";
import type { World } from "./world.js";

/** Ids or pages by name: `virtual`, `slots`, a band. @internal */
export type Lists = Record<string, number[]>;

/** Appends one id to a list that may not be there yet. @internal */
export function append(lists: Lists, name: string, id: number): void {
  (lists[name] ??= []).push(id);
}

/** The same with many. @internal */
export function appendAll(lists: Lists, name: string, ids: readonly number[]): void {
  for (const id of ids) append(lists, name, id);
}

/** As extents, `virtual` and `slots` first, then chain order; empty lists are left out. @internal */
export function pageLists(world: World, lists: Lists): PageLists {
  const result: Record<string, PageLists[string]> = {};
  for (const name of ["virtual", "slots", ...world.bands.map((band) => band.name)]) {
    const ids = lists[name] ?? [];
    if (ids.length > 0) result[name] = toExtents(ids);
  }
  return result;
}

/** @internal */
export function sumOf(left: Demand, right: Demand): Demand {
  const sum: Record<string, number> = { ...left };
  for (const [name, count] of Object.entries(right)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
