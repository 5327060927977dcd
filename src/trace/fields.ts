// The small language in which the operation table states fields. A spec is plain data; its TypeScript type is inferred
// and compared with the types of `src/base/operations.ts`. Schemas, checks, canonical order, comparison and the page of
// the docs are all read from it.
import type { Extents } from "../base/operations.js";

/** What a name names; the letter is the first of every such name, an object of domain `heap` has any. @public */
export const NAME_LETTERS = {
  request: "r",
  forward: "f",
  copy: "c",
  load: "l",
  transfer: "t",
  writer: "w",
  object: "",
} as const;
/** @public */
export type NameKind = keyof typeof NAME_LETTERS;
/** What an operation does to a name; one it only asks about may be open or not. @public */
export type NameRole = "opens" | "closes" | "uses" | "asks";

/** Which words a map's keys are. `pages`: bands, `virtual` and `slots`. @public */
export type KeyKind = "band" | "pages" | "request" | "component" | "purpose" | "word" | "any";
/** How lists are compared. @public */
export type ListMode = "list" | "set";

/**
 * Which ids a field holds. `key`: those of the band, `virtual` or `slots` that the nearest key of a map names, else the
 * field's own name; `unnamed`: ids that mean nothing outside their own answer. @public
 */
export type IdSpace = "key" | "host" | "slots" | "rows" | "address" | "unnamed";

/** A text with a rule of its own; `band` and `limit` name a band of the run, `limit` also `bytes`. @public */
export type TextRule = "any" | "word" | "hex64" | "band" | "limit" | "holder" | "signal";

/** The data of a spec. @public */
export type SpecShape =
  | {
      readonly type: "integer";
      readonly min: number;
      readonly max: number;
      readonly unit: string;
      readonly space?: IdSpace; // an id; absent: a quantity
    }
  | { readonly type: "number"; readonly unit: string } // any finite number; only in configurations
  | { readonly type: "boolean" }
  | { readonly type: "text"; readonly rule: TextRule }
  | { readonly type: "name"; readonly kind: NameKind; readonly role: NameRole }
  | { readonly type: "word"; readonly words: readonly string[] }
  | { readonly type: "null" }
  | { readonly type: "extents"; readonly zero: "unbound" | "id"; readonly space: IdSpace }
  | { readonly type: "list"; readonly of: AnySpec; readonly mode: ListMode }
  | { readonly type: "tuple"; readonly of: readonly AnySpec[] }
  | { readonly type: "tagged"; readonly variants: Readonly<Record<string, readonly AnySpec[]>> }
  | { readonly type: "map"; readonly keys: KeyKind; readonly of: AnySpec }
  | { readonly type: "object"; readonly fields: Fields; readonly rest?: AnySpec } // rest: values of further keys
  | {
      readonly type: "banded"; // named fields around one value a band
      readonly before: Fields;
      readonly of: AnySpec;
      readonly after: Fields;
    }
  | { readonly type: "either"; readonly of: readonly AnySpec[] }
  | { readonly type: "anything" };

/** A spec whose values have the type `T`. @public */
export type Spec<T> = SpecShape & {
  readonly valueType?: T;
  readonly isPlacement?: true; // follows from where pages lie, not from how many there are
};
/** @public */
export type AnySpec = Spec<unknown>;
/** A field that may be absent. @public */
export interface OptionalField<T> {
  readonly optional: Spec<T>;
}
/** The fields of an object, in canonical order. @public */
export type Fields = Readonly<Record<string, AnySpec | OptionalField<unknown>>>;

/** The values of a spec or a field. @public */
export type TypeOf<S> =
  S extends OptionalField<infer T> ? T : S extends { readonly valueType?: infer T } ? T : never;
/** The values of an object with these fields. @public */
export type ObjectOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends OptionalField<unknown> ? never : K]: TypeOf<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends OptionalField<unknown> ? K : never]?: TypeOf<F[K]>;
};
type TypesOf<S extends readonly AnySpec[]> = { readonly [I in keyof S]: TypeOf<S[I]> };
/** The values of the tuples that begin with a tag. @public */
export type TaggedOf<V extends Readonly<Record<string, readonly AnySpec[]>>> = {
  [K in keyof V]: readonly [K, ...TypesOf<V[K]>];
}[keyof V];

/** The largest integer of a trace. @public */
export const INTEGER_MAX: number = Number.MAX_SAFE_INTEGER;
/** Largest id and largest count of an extent, so that their sum is still an exact integer. @public */
export const EXTENT_MAX: number = 2 ** 52;

/** A whole number in `[min, max]`. @public */
export function integer(unit: string, min = 0, max: number = INTEGER_MAX): Spec<number> {
  return { type: "integer", unit, min, max };
}
/** @public */
export const TOKENS: Spec<number> = integer("tokens");
/** @public */
export const PAGES: Spec<number> = integer("pages");
/** @public */
export const BYTES: Spec<number> = integer("bytes");
/** A number of things. @public */
export const COUNT: Spec<number> = integer("");
/** @public */
export const POSITIVE: Spec<number> = integer("", 1);
/** One id of a space. @public */
export function id(space: IdSpace, unit = ""): Spec<number> {
  return { type: "integer", unit, min: 0, max: INTEGER_MAX, space };
}

/** The same field, marked as one that follows from where pages lie. @public */
export function placement<T>(spec: Spec<T>): Spec<T> {
  return { ...spec, isPlacement: true };
}

/** A ratio or another finite number that need not be whole. @public */
export const RATIO: Spec<number> = { type: "number", unit: "" };
/** @public */
export const BOOLEAN: Spec<boolean> = { type: "boolean" };
/** @public */
export const NULL: Spec<null> = { type: "null" };
/** @public */
export const ANYTHING: Spec<unknown> = { type: "anything" };

/** A string under a rule. @public */
export function text(rule: TextRule = "any"): Spec<string> {
  return { type: "text", rule };
}

/** A name; the role tells what the operation does to it. @public */
export function name(kind: NameKind, role: NameRole = "uses"): Spec<string> {
  return { type: "name", kind, role };
}

/** One of these words. @public */
export function word<const W extends readonly string[]>(...words: W): Spec<W[number]> {
  return { type: "word", words };
}

/** The value or null. @public */
export function nullable<T>(of: Spec<T>): Spec<T | null> {
  return { type: "either", of: [{ type: "null" }, of] };
}

/** Alternatives that differ in their JSON type, in their first words, or in their keys. @public */
export function either<S extends readonly AnySpec[]>(...of: S): Spec<TypeOf<S[number]>> {
  return { type: "either", of };
}

/** A list in order. @public */
export function list<T>(of: Spec<T>): Spec<readonly T[]> {
  return { type: "list", of, mode: "list" };
}

/** A list whose order says nothing; compared as a set. @public */
export function setOf<T>(of: Spec<T>): Spec<readonly T[]> {
  return { type: "list", of, mode: "set" };
}

/** A list of fixed length. @public */
export function tuple<const S extends readonly AnySpec[]>(...of: S): Spec<TypesOf<S>> {
  return { type: "tuple", of };
}

/** Tuples told apart by the word in front. @public */
export function tagged<const V extends Readonly<Record<string, readonly AnySpec[]>>>(
  variants: V,
): Spec<TaggedOf<V>> {
  return { type: "tagged", variants };
}

/** One value a key; keys keep the order in which they were written. @public */
export function map<T>(keys: KeyKind, of: Spec<T>): Spec<Readonly<Record<string, T>>> {
  return { type: "map", keys, of };
}

/** An object with exactly these fields, `x_` keys aside. @public */
export function object<F extends Fields>(fields: F): Spec<ObjectOf<F>> {
  return { type: "object", fields };
}

/** An object with these fields and any further keys with values of one kind. @public */
export function openObject<F extends Fields>(fields: F, rest: AnySpec): Spec<ObjectOf<F>> {
  return { type: "object", fields, rest };
}

/** One value a band with named fields before and after it. @public */
export function banded<B extends Fields, T, A extends Fields>(
  before: B,
  of: Spec<T>,
  after: A,
): Spec<Readonly<Record<string, TypeOf<B[keyof B]> | T | TypeOf<A[keyof A]>>>> {
  return { type: "banded", before, of, after };
}

/** Marks a field that may be absent. @public */
export function optional<T>(spec: Spec<T>): OptionalField<T> {
  return { optional: spec };
}

/** The spec of a field and whether it may be absent. @internal */
export function fieldSpec(field: AnySpec | OptionalField<unknown>): {
  readonly spec: AnySpec;
  readonly isOptional: boolean;
} {
  return "optional" in field
    ? { spec: field.optional, isOptional: true }
    : { spec: field, isOptional: false };
}

/** The spec of one member of a value, and whether its key is data (of a map, of a band) and no field's name. @internal */
export function memberSpec(
  spec: SpecShape & { readonly type: "map" | "object" | "banded" },
  key: string,
): { readonly of: AnySpec | null; readonly isKey: boolean } {
  if (spec.type === "map") return { of: spec.of, isKey: true };
  const named = (fields: Fields): AnySpec | null => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return field === undefined ? null : fieldSpec(field).spec;
  };
  if (spec.type === "object") return { of: named(spec.fields) ?? spec.rest ?? null, isKey: false };
  return { of: named(spec.before) ?? named(spec.after) ?? spec.of, isKey: true };
}

/** Ids in order; `[0, k]` is k unbound pages. @public */
export const EXTENTS: Spec<Extents> = { type: "extents", zero: "unbound", space: "key" };
/** Ids in order of a space that has an id 0 (host pages). @public */
export const HOST_EXTENTS: Spec<Extents> = { type: "extents", zero: "id", space: "host" };
/** Rows in order. @public */
export const ROW_EXTENTS: Spec<Extents> = { type: "extents", zero: "unbound", space: "rows" };

// Deep copies of two types without intersections and aliases, so that equal shapes are identical types.
type Flat<T> = T extends string | number | boolean | null | undefined
  ? T
  : unknown extends T
    ? T
    : { [K in keyof T]: Flat<T[K]> };
type Identical<X, Y> =
  (<G>() => G extends X ? 1 : 2) extends <G>() => G extends Y ? 1 : 2 ? true : false;

/**
 * `unknown` where both types have the same fields, the same optional ones and the same values; else a type that no
 * spec has, so that the table does not compile. @public
 */
export type MustEqual<Stated, Declared> =
  Identical<Flat<Stated>, Flat<Declared>> extends true
    ? unknown
    : { readonly "the table and src/base/operations.ts differ": [Stated, Declared] };
