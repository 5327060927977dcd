// Puts other names and hashes into values, by the specs of the operation table: what is no name there stays as it is.
import { pickAlternative } from "../../trace/alternatives.js";
import type { AnySpec, Fields, TextRule } from "../../trace/fields.js";
import { fieldSpec } from "../../trace/fields.js";
import { KEY } from "../../trace/vocabulary.js";
import { KEY_PIECES } from "./own-state.js";

type Bag = Readonly<Record<string, unknown>>;
type Hash = number | string;

/** Other words. @internal */
export interface Words {
  readonly name: (text: string) => string;
  readonly word: (text: string) => string;
  readonly hash: (hash: Hash) => Hash;
}

// Texts that name something; bands, words and digests mean the same everywhere.
const NAMES: ReadonlySet<TextRule> = new Set(["signal", "holder"]);

/** A copy with other words. What no spec has, keys with `x_` among it, is left out. @internal */
export function renamed(spec: AnySpec, value: unknown, words: Words): unknown {
  if (spec === KEY || spec === KEY_PIECES) return renamedKey(value, words);
  switch (spec.type) {
    case "name":
      return words.name(value as string);
    case "text":
      return renamedText(spec.rule, value as string, words);
    case "list":
      return (value as readonly unknown[]).map((item) => renamed(spec.of, item, words));
    case "tuple":
      // a tuple has as many items as its spec
      return (value as readonly unknown[]).map((item, i) => renamed(spec.of[i]!, item, words));
    case "tagged": {
      const [tag, ...rest] = value as readonly unknown[];
      const variant = spec.variants[tag as string] ?? [];
      return [tag, ...rest.map((item, i) => renamed(variant[i]!, item, words))];
    }
    case "map": {
      const isName = spec.keys === "request" || spec.keys === "any";
      const entries = Object.entries(value as Bag).filter(([key]) => !key.startsWith("x_"));
      return Object.fromEntries(
        entries.map(([key, item]) => [
          isName ? words.name(key) : key,
          renamed(spec.of, item, words),
        ]),
      );
    }
    case "object":
      return renamedFields(spec.fields, spec.rest ?? null, {}, value as Bag, words);
    case "banded":
      return renamedFields(spec.before, spec.of, spec.after, value as Bag, words);
    case "either": {
      const chosen = pickAlternative(spec.of, value);
      return chosen === null ? null : renamed(chosen, value, words);
    }
    case "anything":
      return null;
    default:
      return value;
  }
}

function renamedText(rule: TextRule, value: string, words: Words): string {
  if (NAMES.has(rule)) return value === "" ? "" : words.name(value);
  return rule === "any" ? words.word(value) : value;
}

function renamedFields(
  before: Fields,
  of: AnySpec | null,
  after: Fields,
  bag: Bag,
  words: Words,
): unknown {
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(bag)) {
    const field = ownField(before, key) ?? ownField(after, key);
    const spec = field === undefined ? (key.startsWith("x_") ? null : of) : fieldSpec(field).spec;
    if (spec !== null && item !== undefined) entries.push([key, renamed(spec, item, words)]);
  }
  return Object.fromEntries(entries);
}

function ownField(fields: Fields, key: string): Fields[string] | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

// Segments are `[hash, tokens]`, those of a state `[hash, offset, tokens]`.
function renamedKey(value: unknown, words: Words): unknown {
  return (value as readonly (readonly [Hash, ...number[]])[]).map(([hash, ...rest]) => [
    words.hash(hash),
    ...rest,
  ]);
}
