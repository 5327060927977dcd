// JSON Schemas from specs. Two dialects: the published one (draft 2020-12, shared parts by `$ref`) and the compiled one
// (draft-07, everything in place, one validator an operation), from which the quick validators are generated. The
// compiled one says nothing about keys: src/trace/key-count.ts finds unknown ones cheaper, by counting.
import type { AnySpec, Fields, KeyKind } from "./fields.js";
import { EXTENT_MAX, NAME_LETTERS, fieldSpec } from "./fields.js";
import { KEY_PATTERNS, TEXT_PATTERNS, namePattern } from "./patterns.js";

/** A JSON Schema. @internal */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

/** The keyword that stands for a whole list of extents in the compiled dialect. @internal */
export const EXTENTS_KEYWORD = "extentsDownTo";

/** The keyword that stands for a text of so many hex digits in the compiled dialect. @internal */
export const HEX_KEYWORD = "hexDigits";

/** The keyword that stands for a name with this first letter in the compiled dialect. @internal */
export const NAME_KEYWORD = "nameBegins";

/** The keyword that stands for a call of a shared validator in the compiled dialect. @internal */
export const SHARED_KEYWORD = "isShared";

/** @internal */
export interface SchemaDialect {
  readonly isCompiled: boolean;
  /** References of shared specs: what `$ref` says, or the name of a shared validator. */
  readonly refs: ReadonlyMap<AnySpec, string>;
}

/** The keywords of a schema that is not `true` or `false`. @internal */
export function keywords(schema: JsonSchema): Readonly<Record<string, unknown>> {
  return typeof schema === "boolean" ? {} : schema;
}

/** The schema of a spec; `isDefinition` writes a shared spec out instead of its reference. @internal */
export function jsonSchema(
  spec: AnySpec,
  dialect: SchemaDialect,
  isDefinition = false,
): JsonSchema {
  const reference = isDefinition ? undefined : dialect.refs.get(spec);
  if (reference !== undefined) {
    return dialect.isCompiled ? { [SHARED_KEYWORD]: reference } : { $ref: reference };
  }
  switch (spec.type) {
    case "integer":
      return described(spec.unit, dialect, {
        type: "integer",
        minimum: spec.min,
        maximum: spec.max,
      });
    case "number":
      return { type: "number" };
    case "boolean":
    case "null":
      return { type: spec.type };
    case "text":
      return dialect.isCompiled && spec.rule === "hex64"
        ? { [HEX_KEYWORD]: 16 }
        : patterned(TEXT_PATTERNS[spec.rule]);
    case "name":
      return dialect.isCompiled
        ? { [NAME_KEYWORD]: NAME_LETTERS[spec.kind] }
        : patterned(namePattern(spec.kind));
    case "word":
      return { enum: spec.words };
    case "extents":
      return extents(spec.zero === "id" ? 0 : 1, dialect);
    case "list":
      return { type: "array", items: jsonSchema(spec.of, dialect) };
    case "tuple":
      return tupleSchema(
        spec.of.map((item) => jsonSchema(item, dialect)),
        dialect,
      );
    case "tagged":
      return taggedSchema(spec.variants, dialect);
    case "map":
      return mapSchema(spec.keys, jsonSchema(spec.of, dialect), dialect);
    case "object":
      return objectSchema(
        spec.fields,
        spec.rest === undefined ? false : jsonSchema(spec.rest, dialect),
        dialect,
      );
    case "banded":
      return bandedSchema(spec.before, jsonSchema(spec.of, dialect), spec.after, dialect);
    case "either":
      return { anyOf: spec.of.map((option) => jsonSchema(option, dialect)) };
    case "anything":
      return {};
  }
}

function described(unit: string, dialect: SchemaDialect, schema: JsonSchema): JsonSchema {
  return dialect.isCompiled || unit === "" ? schema : { description: unit, ...keywords(schema) };
}

function patterned(pattern: string | null): JsonSchema {
  return pattern === null ? { type: "string" } : { type: "string", pattern };
}

function tupleSchema(items: readonly JsonSchema[], dialect: SchemaDialect): JsonSchema {
  const size = { minItems: items.length, maxItems: items.length };
  return dialect.isCompiled
    ? { type: "array", ...size, items, additionalItems: false }
    : { type: "array", ...size, prefixItems: items, items: false };
}

function extents(lowest: number, dialect: SchemaDialect): JsonSchema {
  if (dialect.isCompiled) return { [EXTENTS_KEYWORD]: lowest };
  const first = { type: "integer", minimum: 0, maximum: EXTENT_MAX };
  const count = {
    type: "integer",
    minimum: -EXTENT_MAX,
    maximum: EXTENT_MAX,
    not: { const: 0 },
  };
  return {
    description: `extents [first, count]; a descending run (count below 0) ends at ${lowest} or above`,
    type: "array",
    items: tupleSchema([first, count], dialect),
  };
}

function taggedSchema(
  variants: Readonly<Record<string, readonly AnySpec[]>>,
  dialect: SchemaDialect,
): JsonSchema {
  const options = Object.entries(variants).map(([tag, rest]): [string, JsonSchema] => [
    tag,
    tupleSchema([{ const: tag }, ...rest.map((item) => jsonSchema(item, dialect))], dialect),
  ]);
  if (!dialect.isCompiled) return { oneOf: options.map(([, schema]) => schema) };
  // A chain of conditions: the tag decides, no other option is tried.
  return options.reduceRight<JsonSchema>(
    (otherwise, [tag, schema]) => ({
      if: { type: "array", minItems: 1, items: [{ const: tag }] },
      then: schema,
      else: otherwise,
    }),
    false,
  );
}

function mapSchema(keys: KeyKind, of: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const pattern = KEY_PATTERNS[keys];
  if (pattern === null || dialect.isCompiled) return { type: "object", additionalProperties: of };
  return {
    type: "object",
    propertyNames: { pattern: `^x_|${pattern}` },
    patternProperties: { "^x_": true },
    additionalProperties: of,
  };
}

function objectSchema(fields: Fields, rest: JsonSchema, dialect: SchemaDialect): JsonSchema {
  const required = requiredKeys(fields);
  const shape = {
    type: "object",
    ...(required.length > 0 ? { required } : {}),
    properties: properties(fields, dialect),
  };
  return dialect.isCompiled
    ? shape
    : { ...shape, patternProperties: { "^x_": true }, additionalProperties: rest };
}

function bandedSchema(
  before: Fields,
  of: JsonSchema,
  after: Fields,
  dialect: SchemaDialect,
): JsonSchema {
  const fields = { ...before, ...after };
  const shape = {
    type: "object",
    required: requiredKeys(fields),
    properties: properties(fields, dialect),
    additionalProperties: of,
  };
  return dialect.isCompiled
    ? shape
    : {
        ...shape,
        propertyNames: { pattern: `^x_|${KEY_PATTERNS.band ?? ""}` },
        patternProperties: { "^x_": true },
      };
}

function requiredKeys(fields: Fields): string[] {
  return Object.keys(fields).filter((key) => {
    // a key of the fields
    return !fieldSpec(fields[key]!).isOptional;
  });
}

function properties(fields: Fields, dialect: SchemaDialect): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, jsonSchema(fieldSpec(field).spec, dialect)]),
  );
}
