// The exact check of a value against its spec: slow, and with a good message. The reader asks it where the quick
// validators say no, where keys must be counted, and where unknown keys are to be dropped.
import { describeSpec, pickAlternative } from "./alternatives.js";
import type { AnySpec, Fields, KeyKind } from "./fields.js";
import { EXTENT_MAX, INTEGER_MAX, fieldSpec } from "./fields.js";
import { namePattern, matches } from "./patterns.js";
import type { RunWords } from "./run-words.js";
import type { Problem } from "./problem.js";
import { below, shown, suggestion } from "./messages.js";
import { isKeyOf, isTextOf, knownKeys, knownTexts } from "./run-words.js";

export type { Problem } from "./problem.js";

/** What an inspection knows and counts. @internal */
export interface InspectContext {
  readonly words: RunWords | null;
  readonly lenient: boolean; // unknown keys of objects are deleted and counted
  ignoredKeys: number;
  extensionKeys: number;
}

/** A fresh context. @internal */
export function inspectContext(words: RunWords | null = null, lenient = false): InspectContext {
  return { words, lenient, ignoredKeys: 0, extensionKeys: 0 };
}

type Bag = Record<string, unknown>;

/** The first problem in document order, or null. @internal */
export function inspect(
  spec: AnySpec,
  value: unknown,
  context: InspectContext,
  path = "",
): Problem | null {
  switch (spec.type) {
    case "integer":
      return inspectInteger(value, spec.min, spec.max, spec.unit, path);
    case "number":
      return typeof value === "number"
        ? inspectAnything(value, path)
        : wrong(value, "a number", path);
    case "boolean":
      return typeof value === "boolean" ? null : wrong(value, "true or false", path);
    case "null":
      return value === null ? null : wrong(value, "null", path);
    case "text":
    case "name":
    case "word":
      return inspectText(spec, value, context.words, path);
    case "extents":
      return inspectExtents(value, spec.zero === "id" ? 0 : 1, path);
    case "list":
      return Array.isArray(value)
        ? inspectItems(value, () => spec.of, context, path)
        : wrong(value, "a list", path);
    case "tuple":
      return inspectTuple(spec.of, value, context, path);
    case "tagged":
      return inspectTagged(spec.variants, value, context, path);
    case "map":
      return inspectKeys({}, spec.keys, spec.of, {}, value, context, path);
    case "object":
      return inspectKeys(spec.fields, "word", spec.rest ?? null, {}, value, context, path);
    case "banded":
      return inspectKeys(spec.before, "band", spec.of, spec.after, value, context, path);
    case "either":
      return inspectEither(spec.of, value, context, path);
    case "anything":
      return inspectAnything(value, path);
  }
}

function wrong(value: unknown, expected: string, path: string): Problem {
  return { path, message: `found ${shown(value)}, expected ${expected}`, expected };
}

function inspectInteger(
  value: unknown,
  min: number,
  max: number,
  unit: string,
  path: string,
): Problem | null {
  const what = unit === "" ? "a whole number" : `a whole number (${unit})`;
  const range = max === INTEGER_MAX ? `of at least ${min}` : `from ${min} to ${max}`;
  const isHuge = typeof value === "number" && Math.abs(value) > INTEGER_MAX;
  if (isHuge) {
    const expected = "a number below 2^53, or a string of hex digits";
    return { path, message: `number beyond 2^53: ${value}`, expected };
  }
  if (typeof value !== "number" || !Number.isInteger(value)) {
    return wrong(value, `${what} ${range}`, path);
  }
  if (value >= min && value <= max) return null;
  const sign = value < 0 ? "negative " : "";
  const expected = `${what} ${range}`;
  return { path, message: `${sign}number ${value} out of range, expected ${expected}`, expected };
}

function inspectText(
  spec: Extract<AnySpec, { type: "text" | "name" | "word" }>,
  value: unknown,
  words: RunWords | null,
  path: string,
): Problem | null {
  if (spec.type === "word") {
    if (typeof value === "string" && spec.words.includes(value)) return null;
    const expected = `one of ${spec.words.join(", ")}`;
    if (typeof value !== "string") return wrong(value, expected, path);
    const message = `unknown word "${value}"${suggestion(value, spec.words)} (${expected})`;
    return { path, message, expected };
  }
  if (spec.type === "name") {
    const expected = spec.kind === "object" ? "an object's name" : `a ${spec.kind}'s name`;
    if (typeof value === "string" && matches(namePattern(spec.kind), value)) return null;
    return wrong(value, `${expected} like ${namePattern(spec.kind)}`, path);
  }
  if (typeof value !== "string") return wrong(value, "a string", path);
  if (isTextOf(spec.rule, value, words)) return null;
  const known = knownTexts(spec.rule, words);
  return known === null ? wrong(value, `a ${spec.rule}`, path) : unknownBand(value, known, path);
}

function unknownBand(band: string, known: ReadonlySet<string>, path: string): Problem {
  const expected = `one of ${[...known].join(", ")}`;
  const hint = suggestion(band, known);
  return {
    path,
    message: `unknown band "${band}"${hint} (the run has ${[...known].join(", ")})`,
    expected,
  };
}

function inspectExtents(value: unknown, lowest: number, path: string): Problem | null {
  if (!Array.isArray(value)) return wrong(value, "a list of extents [first, count]", path);
  for (const [index, extent] of (value as unknown[]).entries()) {
    const place = below(path, index);
    if (!Array.isArray(extent) || extent.length !== 2) {
      return wrong(extent, "an extent [first, count]", place);
    }
    const [first, count] = extent as [unknown, unknown];
    const problem =
      inspectInteger(first, 0, INTEGER_MAX, "", below(place, 0)) ??
      inspectInteger(count, -INTEGER_MAX, INTEGER_MAX, "", below(place, 1));
    if (problem !== null) return problem;
    if (!isExtent(first as number, count as number, lowest)) {
      const expected = "ids from 0 to 2^52";
      const message =
        count === 0
          ? `empty extent ${shown(extent)}, expected a count other than 0`
          : `extent overflow: ${shown(extent)} leaves the range of ids`;
      return { path: place, message, expected };
    }
  }
  return null;
}

/** Whether `[first, count]` names ids only; a descending run ends at `lowest` or above. @internal */
export function isExtent(first: number, count: number, lowest: number): boolean {
  if (count > 0) return first <= EXTENT_MAX && count <= EXTENT_MAX;
  return count < 0 && first <= EXTENT_MAX && first > 0 && first + count + 1 >= lowest;
}

function inspectItems(
  items: readonly unknown[],
  specAt: (index: number) => AnySpec,
  context: InspectContext,
  path: string,
): Problem | null {
  for (let i = 0; i < items.length; i++) {
    const problem = inspect(specAt(i), items[i], context, below(path, i));
    if (problem !== null) return problem;
  }
  return null;
}

function inspectTuple(
  of: readonly AnySpec[],
  value: unknown,
  context: InspectContext,
  path: string,
): Problem | null {
  if (!Array.isArray(value) || value.length !== of.length) {
    return wrong(value, `a list of ${of.length}`, path);
  }
  // the lengths are equal
  return inspectItems(value, (i) => of[i]!, context, path);
}

function inspectTagged(
  variants: Readonly<Record<string, readonly AnySpec[]>>,
  value: unknown,
  context: InspectContext,
  path: string,
): Problem | null {
  if (!Array.isArray(value) || typeof value[0] !== "string") {
    return wrong(value, "a list that begins with a word", path);
  }
  const tag = value[0];
  const rest = Object.hasOwn(variants, tag) ? variants[tag] : undefined;
  if (rest === undefined) {
    const known = Object.keys(variants);
    const expected = `one of ${known.join(", ")}`;
    return {
      path: below(path, 0),
      message: `unknown word "${tag}"${suggestion(tag, known)}`,
      expected,
    };
  }
  if (value.length !== rest.length + 1) {
    return wrong(value, `"${tag}" and ${rest.length} more`, path);
  }
  const tagSpec: AnySpec = { type: "word", words: [tag] };
  return inspectItems(value, (i) => (i === 0 ? tagSpec : rest[i - 1]!), context, path);
}

function inspectKeys(
  before: Fields,
  keys: KeyKind,
  of: AnySpec | null,
  after: Fields,
  value: unknown,
  context: InspectContext,
  path: string,
): Problem | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return wrong(value, "an object", path);
  }
  const bag = value as Bag;
  for (const key of Object.keys(bag)) {
    const problem = inspectKey(before, keys, of, after, bag, key, context, path);
    if (problem !== null) return problem;
  }
  for (const fields of [before, after]) {
    for (const [key, field] of Object.entries(fields)) {
      if (!fieldSpec(field).isOptional && !Object.hasOwn(bag, key)) {
        return { path, message: `missing key "${key}"`, expected: `the key "${key}"` };
      }
    }
  }
  return null;
}

function inspectKey(
  before: Fields,
  keys: KeyKind,
  of: AnySpec | null,
  after: Fields,
  bag: Bag,
  key: string,
  context: InspectContext,
  path: string,
): Problem | null {
  const fields = Object.hasOwn(before, key) ? before : after;
  // own property of one of the two
  const field = Object.hasOwn(fields, key) ? fields[key]! : undefined;
  if (field !== undefined)
    return inspect(fieldSpec(field).spec, bag[key], context, below(path, key));
  if (key.startsWith("x_") && keys !== "any") {
    context.extensionKeys += 1;
    return null;
  }
  if (of !== null && isKeyOf(keys, key, context.words)) {
    return inspect(of, bag[key], context, below(path, key));
  }
  if (of === null && context.lenient) {
    context.ignoredKeys += 1;
    Reflect.deleteProperty(bag, key);
    return null;
  }
  return unknownKey(
    key,
    keys,
    of === null,
    [...Object.keys(before), ...Object.keys(after)],
    context,
    path,
  );
}

function unknownKey(
  key: string,
  keys: KeyKind,
  isObject: boolean,
  fields: readonly string[],
  context: InspectContext,
  path: string,
): Problem {
  const place = below(path, key);
  const known = knownKeys(keys, context.words);
  if (!isObject && known !== null) {
    if (keys !== "component") return { ...unknownBand(key, known, place), isKey: true };
    const expected = `one of ${[...known].join(", ")}`;
    return {
      path: place,
      message: `unknown component "${key}"${suggestion(key, known)}`,
      expected,
      isKey: true,
    };
  }
  if (!isObject && fields.length === 0) {
    const what = keys === "request" ? "a request's name" : `a ${keys}`;
    const message = `unknown key "${key}", expected ${what}`;
    return { path: place, message, expected: what, isKey: true };
  }
  const expected = fields.length === 0 ? "no key" : `one of ${fields.join(", ")}`;
  const message = `unknown key "${key}"${suggestion(key, fields)}`;
  return { path: place, message, expected, isKey: true };
}

function inspectEither(
  of: readonly AnySpec[],
  value: unknown,
  context: InspectContext,
  path: string,
): Problem | null {
  const chosen = pickAlternative(of, value);
  if (chosen !== null) return inspect(chosen, value, context, path);
  return wrong(value, of.map(describeSpec).join(" or "), path);
}

const DEPTH_MAX = 256;

// Whatever stands in an open place is still JSON whose whole numbers were read exactly.
function inspectAnything(value: unknown, path: string, depth = 0): Problem | null {
  if (typeof value === "number" && Math.abs(value) > INTEGER_MAX) {
    return inspectInteger(value, 0, INTEGER_MAX, "", path);
  }
  if (typeof value !== "object" || value === null) return null;
  if (depth > DEPTH_MAX) {
    return { path: "", message: "nesting too deep", expected: `at most ${DEPTH_MAX} levels` };
  }
  for (const [key, member] of Object.entries(value)) {
    const problem = inspectAnything(member, below(path, key), depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}
