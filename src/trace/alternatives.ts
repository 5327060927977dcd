// Which alternative of a spec a value means, and specs in words.
import type { AnySpec } from "./fields.js";
import { fieldSpec } from "./fields.js";

/** The alternative that a value means, by its JSON type, its first words, its keys; null: none. @internal */
export function pickAlternative(of: readonly AnySpec[], value: unknown): AnySpec | null {
  const candidates = of.filter((spec) => jsonTypes(spec).includes(jsonType(value)));
  if (candidates.length < 2) return candidates[0] ?? null;
  const exact = candidates.find((spec) => looksLike(spec, value));
  return exact ?? candidates.at(-1) ?? null;
}

function looksLike(spec: AnySpec, value: unknown): boolean {
  if (spec.type === "word") return spec.words.includes(value as string);
  if (spec.type !== "object") return true;
  const first = Object.keys(spec.fields)[0];
  if (first === undefined || !Object.hasOwn(value as object, first)) return false;
  // first is a key of the fields
  const field = fieldSpec(spec.fields[first]!).spec;
  return (
    field.type !== "word" ||
    field.words.includes((value as Record<string, unknown>)[first] as string)
  );
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

function jsonTypes(spec: AnySpec): readonly string[] {
  switch (spec.type) {
    case "integer":
    case "number":
      return ["number"];
    case "boolean":
    case "null":
      return [spec.type];
    case "text":
    case "name":
    case "word":
      return ["string"];
    case "extents":
    case "list":
    case "tuple":
    case "tagged":
      return ["list"];
    case "map":
    case "object":
    case "banded":
      return ["object"];
    case "either":
      return spec.of.flatMap(jsonTypes);
    case "anything":
      return ["null", "number", "boolean", "string", "list", "object"];
  }
}

/** A spec in a few words. @internal */
export function describeSpec(spec: AnySpec): string {
  switch (spec.type) {
    case "integer":
    case "number":
      return spec.unit === "" ? "a number" : `a number (${spec.unit})`;
    case "word":
      return spec.words.map((word) => `"${word}"`).join(" or ");
    case "name":
      return `a ${spec.kind}'s name`;
    case "text":
      return spec.rule === "any" ? "a string" : `a ${spec.rule}`;
    case "boolean":
      return "true or false";
    case "null":
      return "null";
    case "extents":
      return "extents";
    case "list":
    case "tuple":
    case "tagged":
      return "a list";
    case "map":
    case "object":
    case "banded":
      return "an object";
    case "either":
      return spec.of.map(describeSpec).join(" or ");
    case "anything":
      return "anything";
  }
}
