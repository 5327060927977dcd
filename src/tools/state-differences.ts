// Where two full states part, field by field. Keys that begin with `x_` are extensions and never compared.
import type { FieldDifference } from "./outcome.js";

const FIELDS_MAX = 200;

/** The differing places of two values, at most 200. @internal */
export function stateDifferences(base: unknown, candidate: unknown): FieldDifference[] {
  const found: FieldDifference[] = [];
  walk("/state", base, candidate, found);
  return found;
}

function walk(path: string, base: unknown, candidate: unknown, found: FieldDifference[]): void {
  if (found.length >= FIELDS_MAX || Object.is(base, candidate)) return;
  if (!isObject(base) || !isObject(candidate) || Array.isArray(base) !== Array.isArray(candidate)) {
    found.push({ path, base, candidate });
    return;
  }
  const left = base as Readonly<Record<string, unknown>>;
  const right = candidate as Readonly<Record<string, unknown>>;
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (key.startsWith("x_")) continue;
    const step = key.replaceAll("~", "~0").replaceAll("/", "~1");
    walk(`${path}/${step}`, left[key], right[key], found);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
