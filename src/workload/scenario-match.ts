// Whether an answer is what a scenario expects. A partial match: keys that are given must be equal, others are free;
// `{"count": n}` stands for any n ids, `{"not": …}` and `{"any": […]}` for what they say, and effects also know
// `{"has": […]}` and `{"none": […]}`.
import type { Answer, OperationError } from "../base/operations.js";
import type { State } from "../base/state.js";

/** What an answer must look like (`docs/trace-format.md`, section 6). Without `ok` and `err` it must be `ok`. @public */
export interface Expectation {
  readonly ok?: unknown;
  readonly err?: unknown;
  readonly fx?: unknown;
  readonly state?: unknown;
}

/** The first place where an answer is not what was expected. @public */
export interface Mismatch {
  readonly path: string; // JSON pointer that begins with ok, err, fx or state
  readonly expected: unknown;
  readonly got: unknown; // undefined: nothing there
}

/**
 * The first difference between an expectation and an answer, null where it holds. `expect` null: the operation must
 * be `ok`. `state` is needed where the expectation has one; without it that part is a mismatch. @public
 */
export function matchExpectation(
  expect: Expectation | null,
  answer: Answer,
  state?: State | null,
): Mismatch | null {
  const outcome =
    expect?.err === undefined
      ? matchGranted(expect?.ok, answer)
      : answer.err === undefined
        ? { path: "/err", expected: expect.err, got: { ok: answer.ok } }
        : matchPattern(expect.err, answer.err, "/err");
  if (outcome !== null) return outcome;
  if (expect?.fx !== undefined) {
    const mismatch = matchEffects(expect.fx, answer.fx ?? []);
    if (mismatch !== null) return mismatch;
  }
  if (expect?.state === undefined) return null;
  return matchPattern(expect.state, state ?? null, "/state");
}

function matchGranted(pattern: unknown, answer: Answer): Mismatch | null {
  if (answer.err !== undefined)
    return { path: "/ok", expected: pattern ?? {}, got: { err: shown(answer.err) } };
  return pattern === undefined ? null : matchPattern(pattern, answer.ok, "/ok");
}

function shown(error: OperationError): unknown {
  return { ...error };
}

/** The effects against `[…]` (all of them, in order) or `{"has","none"}`. */
function matchEffects(pattern: unknown, effects: readonly unknown[]): Mismatch | null {
  if (Array.isArray(pattern)) return matchPattern(pattern, effects, "/fx");
  if (!isObject(pattern)) return { path: "/fx", expected: pattern, got: effects };
  const has: unknown = pattern["has"];
  const none: unknown = pattern["none"];
  if (has === undefined && none === undefined) return matchPattern(pattern, effects, "/fx");
  if (Array.isArray(has)) {
    let at = 0;
    for (const [index, item] of has.entries()) {
      while (at < effects.length && matchPattern(item, effects[at], "") !== null) at += 1;
      if (at >= effects.length)
        return { path: `/fx/has/${String(index)}`, expected: item, got: effects };
      at += 1;
    }
  }
  if (Array.isArray(none)) {
    for (const kind of none as unknown[]) {
      const index = effects.findIndex((effect) => Array.isArray(effect) && effect[0] === kind);
      if (index >= 0)
        return { path: `/fx/${String(index)}`, expected: { none: kind }, got: effects[index] };
    }
  }
  return null;
}

function matchPattern(pattern: unknown, got: unknown, path: string): Mismatch | null {
  if (Array.isArray(pattern)) return matchList(pattern, got, path);
  if (!isObject(pattern)) return Object.is(pattern, got) ? null : { path, expected: pattern, got };
  const keys = Object.keys(pattern).filter((key) => !key.startsWith("x_"));
  if (keys.length === 1) {
    const special = matchSpecial(keys[0] ?? "", pattern, got, path);
    if (special !== undefined) return special;
  }
  if (!isObject(got)) return { path, expected: pattern, got };
  for (const key of keys) {
    const there = Object.hasOwn(got, key) ? got[key] : undefined;
    const mismatch = matchPattern(pattern[key], there, `${path}/${escaped(key)}`);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

/** `not`, `any`, `count`; undefined where the one key is an ordinary one. */
function matchSpecial(
  key: string,
  pattern: Readonly<Record<string, unknown>>,
  got: unknown,
  path: string,
): Mismatch | null | undefined {
  const value = pattern[key];
  if (key === "not")
    return matchPattern(value, got, path) === null ? { path, expected: pattern, got } : null;
  if (key === "any" && Array.isArray(value)) {
    const isOne = value.some((alternative) => matchPattern(alternative, got, path) === null);
    return isOne ? null : { path, expected: pattern, got };
  }
  if (key === "count" && typeof value === "number" && !isObject(got)) {
    return idCount(got) === value ? null : { path, expected: pattern, got };
  }
  return undefined;
}

function matchList(pattern: readonly unknown[], got: unknown, path: string): Mismatch | null {
  if (!Array.isArray(got) || got.length !== pattern.length) return { path, expected: pattern, got };
  for (const [index, item] of pattern.entries()) {
    const mismatch = matchPattern(item, got[index], `${path}/${String(index)}`);
    if (mismatch !== null) return mismatch;
  }
  return null;
}

/** Ids of an extent list, null where it is none. */
function idCount(value: unknown): number | null {
  if (!Array.isArray(value)) return null;
  let total = 0;
  for (const extent of value as unknown[]) {
    if (!Array.isArray(extent) || typeof extent[1] !== "number") return null;
    total += Math.abs(extent[1]);
  }
  return total;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
