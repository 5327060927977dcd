// Numbers of a state by a path such as `full.live`, `rows.r1.allocated` or `chain.move_epoch`.
import { countOf } from "../../base/extents.js";
import type { Extents } from "../../base/values.js";
import type { Snapshot } from "./look.js";

/** @public */
export const OPERATORS = [">=", "<=", "!=", "=", ">", "<"] as const;
/** @public */
export type Operator = (typeof OPERATORS)[number];

/** @internal */
export function comparison(left: number, operator: Operator, right: number): boolean {
  switch (operator) {
    case ">=":
      return left >= right;
    case "<=":
      return left <= right;
    case "!=":
      return left !== right;
    case "=":
      return left === right;
    case ">":
      return left > right;
    case "<":
      return left < right;
  }
}

/**
 * The number at a path; null where nothing is there. Of a list of ids it is how many, of another list its length, of fields
 * how many there are; of a truth 1 or 0. Of a band the figures of its lane count first (`live`, `holes`, `pending`,
 * `capacity`, `occupancy` …), then the fields of its state.
 * @internal
 */
export function figureOf(snapshot: Snapshot, path: readonly string[]): number | null {
  const [component, field, ...more] = path;
  if (snapshot.kind === "heap")
    return component === "heap" ? numberOf(descend(snapshot.map, path.slice(1))) : null;
  const lane = snapshot.map?.lanes.find(({ band }) => band === component);
  const figure: unknown =
    field === undefined
      ? undefined
      : lane && Object.entries(lane).find(([key]) => key === field)?.[1];
  if (typeof figure === "number" && more.length === 0) return figure;
  return numberOf(descend(snapshot.state, path));
}

function descend(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const word of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, word)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[word];
  }
  return at;
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "object" || value === null) return null;
  if (!Array.isArray(value)) return Object.keys(value).length;
  const list: readonly unknown[] = value;
  return isExtents(list) ? countOf(list) : value.length;
}

function isExtents(list: readonly unknown[]): list is Extents {
  return list.every(
    (entry) =>
      Array.isArray(entry) && entry.length === 2 && entry.every((part) => Number.isInteger(part)),
  );
}
