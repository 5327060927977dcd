// Deep copies of plain data: arrays, maps, records. The world is copied before every operation and every trial, so this
// is the one place where the second allocator cares about time.
import { Bindings } from "./bindings.js";

/** A deep copy; nothing of it is shared with the original but what cannot change. @internal */
export function deepCopy<T>(value: T): T {
  return copied(value) as T; // has the shape of its original
}

function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return isFlat(value) ? value.slice() : value.map(copied);
  if (value instanceof Map) return copiedMap(value);
  if (value instanceof Bindings) return value.copy();
  const copy: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) copy[name] = copied(part);
  return copy;
}

// Lists are of one kind of thing, so the first element tells.
function isFlat(list: readonly unknown[]): boolean {
  return typeof list[0] !== "object" || list[0] === null;
}

function copiedMap(map: ReadonlyMap<unknown, unknown>): Map<unknown, unknown> {
  const copy = new Map<unknown, unknown>();
  for (const [key, part] of map) copy.set(key, copied(part));
  return copy;
}
