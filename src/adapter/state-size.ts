// How much a full state would hold once it is loaded: a run of ids takes a few bytes in a trace and room for each of them
// in memory.
import type { State } from "../base/state.js";

/** Most ids of a state that is loaded: pages, slots and rows, each as often as it is named. @internal */
export const STATE_IDS_MAX: number = 2 ** 24;

/** The ids that the extents, bindings and spans of a state name, each as often as it is named. @internal */
export function idsNamed(state: State): number {
  return count(state, "");
}

function count(value: unknown, key: string): number {
  if (typeof value !== "object" || value === null) return 0;
  if (!Array.isArray(value)) {
    return Object.entries(value).reduce((sum, [name, member]) => sum + count(member, name), 0);
  }
  const items: readonly unknown[] = value;
  if (key === "span") return length(items[1]);
  return items.reduce<number>(
    (sum, item) => sum + (isRun(item) ? length(item.at(-1)) : count(item, "")),
    0,
  );
}

// An extent `[first, count]` or a binding `[virtual, physical, count]`.
function isRun(item: unknown): item is readonly number[] {
  const isShort = Array.isArray(item) && (item.length === 2 || item.length === 3);
  return isShort && item.every((part) => typeof part === "number");
}

function length(part: unknown): number {
  return typeof part === "number" ? Math.abs(part) : 0;
}
