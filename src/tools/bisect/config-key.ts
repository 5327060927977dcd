// Numbers inside a configuration, by dotted paths: `arena_bytes`, `sub_pools.full.unit_bytes`, `host.full`; an item of a list
// by its name, or by its place where it has none: `model.layers.0.window`.
import { UsageError } from "../../base/errors.js";
import { nearestWord } from "../../base/nearest.js";
import type { RunConfig } from "../../base/operations.js";

// Numbers that a configuration may leave out.
const OPTIONAL = ["move_cap", "invariants"];

type Bag = Record<string, unknown>;

/** The configuration with another value. Throws `UsageError` for a key that names no number of it. @internal */
export function configWith(config: RunConfig, key: string, value: number, run: string): RunConfig {
  const copy = structuredClone(config) as unknown as Bag; // a configuration is a plain object
  const steps = key.split(".");
  let at: unknown = copy;
  for (const step of steps.slice(0, -1)) at = memberOf(at, step);
  const last = steps.at(-1) ?? "";
  const isNumber = typeof memberOf(at, last) === "number";
  if (isNumber || OPTIONAL.includes(key)) {
    (at as Bag)[last] = value; // it has this member, or is the configuration itself
    return copy as unknown as RunConfig;
  }
  const known = [...new Set([...numbersOf(config, ""), ...OPTIONAL])];
  const nearest = nearestWord(key, known);
  const meant = nearest === null ? `: ${known.join(", ")}` : `; did you mean ${nearest}?`;
  throw new UsageError(`--key ${key} names no number of the configuration of run ${run}${meant}`);
}

/** Values from a good one to a bad one, in order. @public */
export interface ValueLine {
  readonly count: number; // at least 2
  at(index: number): number;
}

/** The values from `good` to `bad`, both included, in steps. A page size takes powers of two in between. @public */
export function valuesBetween(key: string, good: number, bad: number, step: number): ValueLine {
  const sign = good < bad ? 1 : -1;
  if (key.split(".").at(-1) !== "page_size") {
    const count = Math.ceil(Math.abs(bad - good) / step) + 1;
    return { count, at: (index) => (index === count - 1 ? bad : good + sign * index * step) };
  }
  const values = [good, bad];
  const [low, high] = [Math.min(good, bad), Math.max(good, bad)];
  for (let power = 1; power < high; power *= 2) if (power > low) values.push(power);
  values.sort((left, right) => (left - right) * sign);
  return { count: values.length, at: (index) => values[index]! }; // below its length
}

function memberOf(at: unknown, step: string): unknown {
  if (Array.isArray(at)) return at.find((item, place) => nameOf(item, place) === step);
  return typeof at === "object" && at !== null ? (at as Bag)[step] : undefined;
}

function numbersOf(at: unknown, path: string): string[] {
  if (typeof at === "number") return [path];
  if (typeof at !== "object" || at === null) return [];
  const entries = Array.isArray(at)
    ? at.map((item: unknown, place) => [nameOf(item, place), item] as const)
    : Object.entries(at);
  return entries.flatMap(([name, item]) => numbersOf(item, path === "" ? name : `${path}.${name}`));
}

function nameOf(item: unknown, place: number): string {
  const name = typeof item === "object" && item !== null ? (item as Bag)["name"] : undefined;
  return typeof name === "string" ? name : String(place);
}
