// Smaller values of a spec, the boldest first. Arguments and configurations are both data with a spec, so one set of
// rules serves both; whether a value is really smaller, and whether it still fails, is decided elsewhere.
import { pickAlternative } from "../../trace/alternatives.js";
import type { AnySpec } from "../../trace/fields.js";
import { fieldSpec } from "../../trace/fields.js";
import type { Bag } from "./arguments.js";

/** Values of the same spec, each a step simpler than `value`; none where it is as simple as can be. @internal */
export function* smallerValues(spec: AnySpec, value: unknown): Iterable<unknown> {
  switch (spec.type) {
    case "integer":
      yield* smallerIntegers(value as number, spec.min);
      return;
    case "boolean":
      if (value === true) yield false;
      return;
    case "word":
      for (const word of spec.words) if (word !== value) yield word;
      return;
    case "extents":
      yield* smallerExtents(value as readonly (readonly [number, number])[]);
      return;
    case "list":
      yield* smallerLists(spec.of, value as readonly unknown[]);
      return;
    case "tuple":
      for (const [index, inner] of spec.of.entries()) {
        yield* replacedItems(inner, value as readonly unknown[], index);
      }
      return;
    case "map":
      yield* smallerMaps(spec.of, value as Bag);
      return;
    case "object":
      yield* smallerObjects(spec, value as Bag);
      return;
    case "either":
      yield* smallerChoices(spec.of, value);
      return;
    default: // names are renamed all together, texts say what they say
  }
}

/** `least`, then closer and closer to the value. */
export function* smallerIntegers(value: number, least: number): Iterable<number> {
  for (let step = value - least; step >= 1; step = Math.floor(step / 2)) yield value - step;
}

function* smallerExtents(
  value: readonly (readonly [first: number, count: number])[],
): Iterable<unknown> {
  for (let index = value.length - 1; index >= 0; index--) yield value.toSpliced(index, 1);
  for (const [index, [first, count]] of value.entries()) {
    if (Math.abs(count) <= 1) continue;
    yield value.with(index, [first, Math.sign(count)]);
    yield value.with(index, [first, Math.trunc(count / 2)]);
    yield value.with(index, [first, count - Math.sign(count)]);
  }
}

function* smallerLists(of: AnySpec, value: readonly unknown[]): Iterable<unknown> {
  for (let size = value.length; size >= 1; size = Math.floor(size / 2)) {
    for (let end = value.length; end > 0; end -= size) {
      const start = Math.max(0, end - size);
      yield value.toSpliced(start, end - start);
    }
  }
  for (let index = 0; index < value.length; index++) yield* replacedItems(of, value, index);
}

function* replacedItems(
  of: AnySpec,
  value: readonly unknown[],
  index: number,
): Iterable<readonly unknown[]> {
  for (const item of smallerValues(of, value[index])) yield value.with(index, item);
}

function* smallerMaps(of: AnySpec, value: Bag): Iterable<unknown> {
  const keys = Object.keys(value);
  for (const key of keys) yield withoutKey(value, key);
  for (const key of keys) yield* replacedFields(of, value, key);
}

function* smallerObjects(
  spec: AnySpec & { readonly type: "object" },
  value: Bag,
): Iterable<unknown> {
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined;
    if (field === undefined || fieldSpec(field).isOptional) yield withoutKey(value, key);
  }
  for (const key of Object.keys(value)) {
    const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined;
    if (field !== undefined) yield* replacedFields(fieldSpec(field).spec, value, key);
  }
}

function* replacedFields(of: AnySpec, value: Bag, key: string): Iterable<Bag> {
  for (const item of smallerValues(of, value[key])) yield { ...value, [key]: item };
}

function* smallerChoices(of: readonly AnySpec[], value: unknown): Iterable<unknown> {
  // null says "not known", which is no simpler than a number
  const chosen = pickAlternative(of, value);
  if (chosen !== null) yield* smallerValues(chosen, value);
}

function withoutKey(value: Bag, key: string): Bag {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}
