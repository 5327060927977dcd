// Whether an expectation can be met at all: every key, band, effect and word in it is one that the operation's answer
// may hold. A misspelt one would otherwise fail, or inside `not` and `none` pass, for a reason that nobody sees.
import { INVALID_RULES } from "../base/operations.js";
import { pickAlternative } from "../trace/alternatives.js";
import type { AnySpec, Fields, KeyKind } from "../trace/fields.js";
import { ANYTHING, COUNT, fieldSpec, list, text, tuple, word } from "../trace/fields.js";
import { inspect, inspectContext } from "../trace/inspect.js";
import { EFFECT, EFFECTS, ERROR } from "../trace/line-specs.js";
import { below, shown, suggestion } from "../trace/messages.js";
import type { OperationSpec } from "../trace/operation-spec.js";
import type { Problem } from "../trace/problem.js";
import type { RunWords } from "../trace/run-words.js";
import { isKeyOf, knownKeys } from "../trace/run-words.js";
import { STATE } from "../trace/state-spec.js";
import { isObject } from "./spec-names.js";

type Bag = Readonly<Record<string, unknown>>;

/** What is wrong with `expect` of an operation, or null. `words`: of all configurations together. @internal */
export function expectationProblem(
  spec: OperationSpec,
  expect: Bag,
  words: RunWords | null,
  path: string,
): Problem | null {
  const { ok, err, fx, state } = expect;
  const checker = new PatternChecker(words);
  return (
    (ok === undefined ? null : checker.check(spec.ok, ok, `${path}/ok`)) ??
    (err === undefined ? null : checkError(checker, spec, err, `${path}/err`)) ??
    (fx === undefined ? null : checkEffects(checker, fx, `${path}/fx`)) ??
    (state === undefined ? null : checker.check(STATE, state, `${path}/state`))
  );
}

function checkError(
  checker: PatternChecker,
  { refusals }: OperationSpec,
  err: unknown,
  path: string,
): Problem | null {
  const codeless = errorWithoutCode(err, path);
  if (codeless !== null) return codeless;
  // the rules of a plan are not among those of the format
  const rule = refusals.includes("refused_plan") ? text("word") : word(...INVALID_RULES);
  const code = word(...refusals, "invalid", "unsupported");
  const fields = ERROR.type === "object" ? ERROR.fields : {};
  const own: AnySpec = {
    type: "object",
    fields: { ...fields, code, rule: { optional: rule } },
  };
  return checker.check(own, err, path);
}

/** The place of an expected failure that does not state its code. */
function errorWithoutCode(err: unknown, path: string): Problem | null {
  if (!isObject(err)) return null;
  const { any } = err;
  if (Array.isArray(any)) {
    return firstOf(any, (item, index) => errorWithoutCode(item, `${path}/any/${index}`));
  }
  if (err["not"] !== undefined || err["code"] !== undefined) return null;
  return wrong(path, "an expected failure states its code", "a code");
}

function checkEffects(checker: PatternChecker, fx: unknown, path: string): Problem | null {
  if (!isObject(fx) || isSpecial(fx)) return checker.check(EFFECTS, fx, path);
  const { has, none } = fx;
  return (
    unknownKey(Object.keys(fx), ["has", "none", "not", "any"], path) ??
    (has === undefined ? null : checker.check(list(EFFECT), has, `${path}/has`)) ??
    (none === undefined ? null : checker.check(list(EFFECT_NAME), none, `${path}/none`))
  );
}

const EFFECT_NAME: AnySpec = word(
  ...(EFFECT.type === "tagged" ? Object.keys(EFFECT.variants) : []),
);

/** Checks patterns against the specs of what they are to match. */
class PatternChecker {
  readonly #words: RunWords | null;

  constructor(words: RunWords | null) {
    this.#words = words;
  }

  check(spec: AnySpec, pattern: unknown, path: string): Problem | null {
    if (isObject(pattern) && isSpecial(pattern)) return this.#special(spec, pattern, path);
    switch (spec.type) {
      case "list":
        return this.#items(pattern, () => spec.of, path);
      case "tuple":
        return this.#tuple(spec.of, pattern, path);
      case "tagged":
        return this.#tagged(spec.variants, pattern, path);
      case "map":
        return this.#keys({}, spec.keys, spec.of, pattern, path);
      case "object":
        return this.#keys(spec.fields, "word", spec.rest ?? null, pattern, path);
      case "banded":
        return this.#keys({ ...spec.before, ...spec.after }, "band", spec.of, pattern, path);
      case "either":
        return this.#either(spec.of, pattern, path);
      case "extents":
        return this.#extents(spec, pattern, path);
      default:
        return inspect(spec, pattern, inspectContext(this.#words), path);
    }
  }

  #special(spec: AnySpec, pattern: Bag, path: string): Problem | null {
    const { not, any } = pattern;
    const lonely = unknownKey(Object.keys(pattern), [any === undefined ? "not" : "any"], path);
    if (lonely !== null) return lonely;
    if (any === undefined) return this.check(spec, not, `${path}/not`);
    if (!Array.isArray(any) || any.length === 0) {
      return wrong(`${path}/any`, `found ${shown(any)}, expected a list of patterns`, "a list");
    }
    return firstOf(any, (item, index) => this.check(spec, item, `${path}/any/${index}`));
  }

  #items(pattern: unknown, specAt: (index: number) => AnySpec, path: string): Problem | null {
    if (!Array.isArray(pattern)) return notA("a list", pattern, path);
    return firstOf(pattern, (item, index) => this.check(specAt(index), item, below(path, index)));
  }

  #tuple(of: readonly AnySpec[], pattern: unknown, path: string): Problem | null {
    if (!Array.isArray(pattern) || pattern.length !== of.length) {
      return notA(`a list of ${of.length}`, pattern, path);
    }
    // the lengths are equal
    return this.#items(pattern, (index) => of[index]!, path);
  }

  #tagged(
    variants: Readonly<Record<string, readonly AnySpec[]>>,
    pattern: unknown,
    path: string,
  ): Problem | null {
    if (!Array.isArray(pattern)) return notA("an effect", pattern, path);
    const items: readonly unknown[] = pattern;
    const [tag] = items;
    const names = word(...Object.keys(variants));
    if (typeof tag !== "string") {
      // a pattern for the name: what follows it is not known
      return this.#items(items, (index) => (index === 0 ? names : ANYTHING), path);
    }
    const problem = this.check(names, tag, `${path}/0`);
    if (problem !== null) return problem;
    const rest = variants[tag] ?? []; // a known name has its variant
    return this.#tuple([names, ...rest], items, path);
  }

  #keys(
    fields: Fields,
    keys: KeyKind,
    of: AnySpec | null,
    pattern: unknown,
    path: string,
  ): Problem | null {
    if (!isObject(pattern)) return notA("an object", pattern, path);
    const named = Object.keys(fields);
    for (const [key, value] of Object.entries(pattern)) {
      if (key.startsWith("x_")) continue;
      const place = below(path, key);
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field === undefined && (of === null || !isKeyOf(keys, key, this.#words))) {
        const known = [...named, ...(of === null ? [] : (knownKeys(keys, this.#words) ?? []))];
        return unknownKey([key], known, path);
      }
      // either a field was found, or `of` is there
      const problem = this.check(field === undefined ? of! : fieldSpec(field).spec, value, place);
      if (problem !== null) return problem;
    }
    return null;
  }

  #either(of: readonly AnySpec[], pattern: unknown, path: string): Problem | null {
    const likely = pickAlternative(of, pattern) ?? of[0];
    let first: Problem | null = null;
    for (const spec of of) {
      const problem = this.check(spec, pattern, path);
      if (problem === null) return null;
      if (spec === likely) first = problem;
    }
    return first;
  }

  #extents(spec: AnySpec, pattern: unknown, path: string): Problem | null {
    if (isObject(pattern)) {
      const { count } = pattern;
      return (
        unknownKey(Object.keys(pattern), ["count"], path) ??
        inspect(COUNT, count, inspectContext(), `${path}/count`)
      );
    }
    // literal ids are judged as such; patterns inside extents by their places
    if (!Array.isArray(pattern) || pattern.flat().every((item) => !isObject(item))) {
      return inspect(spec, pattern, inspectContext(), path);
    }
    return this.#items(pattern, () => tuple(ANYTHING, ANYTHING), path);
  }
}

/** `{"not": …}` and `{"any": […]}`: no answer has keys of these names. */
function isSpecial(pattern: Bag): boolean {
  return pattern["not"] !== undefined || pattern["any"] !== undefined;
}

function unknownKey(
  keys: readonly string[],
  known: readonly string[],
  path: string,
): Problem | null {
  const key = keys.find((name) => !name.startsWith("x_") && !known.includes(name));
  if (key === undefined) return null;
  const expected = known.length === 0 ? "no key" : `one of ${known.join(", ")}`;
  return wrong(
    below(path, key),
    `unknown key "${key}"${suggestion(key, known)} (${expected})`,
    expected,
  );
}

function notA(what: string, pattern: unknown, path: string): Problem {
  return wrong(path, `found ${shown(pattern)}, expected ${what}`, what);
}

function wrong(path: string, message: string, expected: string): Problem {
  return { path, message, expected };
}

function firstOf(
  items: readonly unknown[],
  check: (item: unknown, index: number) => Problem | null,
): Problem | null {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem !== null) return problem;
  }
  return null;
}
