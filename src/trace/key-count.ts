// Counts the keys of a value that its spec knows, and looks up the bands it names, in one quick pass over a value that
// the generated validators passed. The reader compares the count with the number of keys in the text: equal means that
// no key is unknown, an extension or given twice. Where it is not equal (NaN: a word is wrong) the exact check decides.
import { pickAlternative } from "./alternatives.js";
import type { AnySpec, Fields, KeyKind } from "./fields.js";
import { fieldSpec } from "./fields.js";
import { KEY_PATTERNS } from "./patterns.js";
import type { RunWords } from "./run-words.js";
import { isKeyOf, knownKeys, knownTexts } from "./run-words.js";

/** Number of known keys in a value; NaN where a key or a band's name is not one that may stand there. @internal */
export type KeyCounter = (value: unknown, words: RunWords | null) => number;

type Bag = Readonly<Record<string, unknown>>;
// A number: every value has so many keys and names no band.
type Count = number | KeyCounter;

/** The counter of a spec. @internal */
export function keyCounter(spec: AnySpec): KeyCounter {
  const count = compile(spec);
  return typeof count === "number" ? () => count : count;
}

function compile(spec: AnySpec): Count {
  switch (spec.type) {
    case "text": {
      const { rule } = spec;
      return rule === "band" || rule === "limit"
        ? (value, words) => (knownTexts(rule, words)?.has(value as string) === false ? NaN : 0)
        : 0;
    }
    case "list":
      return compileList(compile(spec.of));
    case "tuple":
      return compileTuple(spec.of.map(compile), 0);
    case "tagged":
      return compileTagged(spec.variants);
    case "map":
      return compileMap(spec.keys, compile(spec.of));
    case "object":
      return compileObject(spec.fields);
    case "banded":
      return compileBanded(spec.before, compile(spec.of), spec.after);
    case "either":
      return compileEither(spec.of);
    default:
      return 0;
  }
}

function apply(count: Count, value: unknown, words: RunWords | null): number {
  return typeof count === "number" ? count : count(value, words);
}

function compileList(of: Count): Count {
  if (of === 0) return 0;
  if (typeof of === "number") return (value) => of * (value as unknown[]).length;
  return (value, words) => {
    const items = value as readonly unknown[];
    let total = 0;
    for (let i = 0; i < items.length; i++) total += of(items[i], words);
    return total;
  };
}

function compileTuple(of: readonly Count[], start: number): Count {
  if (of.every((count) => count === 0)) return 0;
  return (value, words) => {
    const items = value as readonly unknown[];
    let total = 0;
    for (let i = 0; i < of.length; i++) {
      // within the bounds of `of`
      const count = of[i]!;
      if (count !== 0) total += apply(count, items[i + start], words);
    }
    return total;
  };
}

function compileTagged(variants: Readonly<Record<string, readonly AnySpec[]>>): Count {
  const byTag = new Map<unknown, Count>();
  for (const [tag, rest] of Object.entries(variants)) {
    byTag.set(tag, compileTuple(rest.map(compile), 1));
  }
  return (value, words) => apply(byTag.get((value as readonly unknown[])[0]) ?? 0, value, words);
}

function compileMap(keys: KeyKind, of: Count): Count {
  const pattern = KEY_PATTERNS[keys];
  const expression = pattern === null ? null : new RegExp(pattern);
  return (value, words) => {
    const bag = value as Bag;
    const known = knownKeys(keys, words);
    let total = 0;
    for (const key in bag) {
      if (known !== null) {
        if (!known.has(key)) return NaN;
      } else if (expression !== null && !expression.test(key)) return NaN;
      total += 1;
      if (of !== 0) total += apply(of, bag[key], words);
    }
    return total;
  };
}

interface CountedField {
  readonly key: string;
  readonly isOptional: boolean;
  readonly count: Count;
}

function counted(fields: Fields): CountedField[] {
  return Object.entries(fields).map(([key, field]) => {
    const { spec, isOptional } = fieldSpec(field);
    return { key, isOptional, count: compile(spec) };
  });
}

function compileObject(fields: Fields): Count {
  let fixed = 0;
  const varying: CountedField[] = [];
  for (const field of counted(fields)) {
    if (!field.isOptional && typeof field.count === "number") fixed += 1 + field.count;
    else varying.push(field);
  }
  if (varying.length === 0) return fixed;
  return (value, words) => {
    const bag = value as Bag;
    let total = fixed;
    for (let i = 0; i < varying.length; i++) {
      // within bounds
      const field = varying[i]!;
      const member = bag[field.key];
      if (member !== undefined) {
        total += 1;
        if (field.count !== 0) total += apply(field.count, member, words);
      }
    }
    return total;
  };
}

function compileBanded(before: Fields, of: Count, after: Fields): Count {
  const named = new Map([...counted(before), ...counted(after)].map((field) => [field.key, field]));
  return (value, words) => {
    const bag = value as Bag;
    let total = 0;
    for (const key in bag) {
      const field = named.get(key);
      if (field === undefined && !isKeyOf("band", key, words)) return NaN;
      total += 1 + apply(field === undefined ? of : field.count, bag[key], words);
    }
    return total;
  };
}

function compileEither(of: readonly AnySpec[]): Count {
  const counts = of.map(compile);
  if (counts.every((count) => count === 0)) return 0;
  const byType = new Map<string, Count>();
  for (const [index, spec] of of.entries()) {
    // as many counts as alternatives
    const count = counts[index]!;
    const type = spec.type === "list" ? "list" : isObjectSpec(spec) ? "object" : "scalar";
    // two alternatives of one JSON type: the value decides
    byType.set(type, byType.has(type) ? bySpec(of, counts) : count);
  }
  return (value, words) => {
    const type = Array.isArray(value)
      ? "list"
      : value !== null && typeof value === "object"
        ? "object"
        : "scalar";
    return apply(byType.get(type) ?? 0, value, words);
  };
}

function bySpec(of: readonly AnySpec[], counts: readonly Count[]): Count {
  return (value, words) => {
    const chosen = pickAlternative(of, value);
    // -1 where none is chosen
    return chosen === null ? NaN : apply(counts[of.indexOf(chosen)] ?? NaN, value, words);
  };
}

function isObjectSpec(spec: AnySpec): boolean {
  return spec.type === "object" || spec.type === "map" || spec.type === "banded";
}
