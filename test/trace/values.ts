// Random values of a spec, and ways to break them; for the laws of this room.
import { Prng } from "../../src/base/prng.js";
import type { OperationName } from "../../src/base/operations.js";
import type { AnySpec, Fields } from "../../src/trace/fields.js";
import { fieldSpec } from "../../src/trace/fields.js";
import { ERROR, EFFECTS, DIGESTS } from "../../src/trace/line-specs.js";
import type { OperationSpec } from "../../src/trace/operation-spec.js";
import { OPERATION_TABLE } from "../../src/trace/operation-table.js";
import { runWords } from "../../src/trace/run-words.js";

export const BANDS = ["mamba", "window_8", "full"];
export const CONFIG = {
  page_size: 4,
  arena_bytes: 65536,
  sub_pools: [
    { name: "mamba", kind: "state" as const, unit_bytes: 160 },
    { name: "window_8", kind: "mha" as const, window: 8, unit_bytes: 24 },
    { name: "full", kind: "mha" as const, unit_bytes: 16 },
  ],
  rows: 8,
  row_tokens: 128,
};
export const WORDS = runWords("kv", CONFIG)!;
export const SPECS: readonly OperationSpec[] = Object.values<OperationSpec>(OPERATION_TABLE);

const LETTERS = { request: "r", forward: "f", copy: "c", load: "l", transfer: "t", writer: "w" };

/** A random value of a spec; maps and lists are short. */
export function valueOf(spec: AnySpec, prng: Prng): unknown {
  switch (spec.type) {
    case "integer":
      return prng.chance(1, 20)
        ? spec.max
        : spec.min + prng.below(Math.min(1000, spec.max - spec.min + 1));
    case "number":
      return prng.below(1000) / 8;
    case "boolean":
      return prng.chance(1, 2);
    case "null":
      return null;
    case "text":
      return textOf(spec.rule, prng);
    case "name":
      return `${spec.kind === "object" ? "" : LETTERS[spec.kind]}${prng.pick(["1", "2a", "_x", ":3", ".", "-9"])}`;
    case "word":
      return prng.pick(spec.words);
    case "extents":
      return Array.from({ length: prng.below(4) }, () =>
        extentOf(prng, spec.zero === "id" ? 0 : 1),
      );
    case "list":
      return Array.from({ length: prng.below(3) }, () => valueOf(spec.of, prng));
    case "tuple":
      return spec.of.map((item) => valueOf(item, prng));
    case "tagged": {
      const tag = prng.pick(Object.keys(spec.variants));
      return [tag, ...spec.variants[tag]!.map((item) => valueOf(item, prng))];
    }
    case "map":
      return Object.fromEntries(
        keysOf(spec.keys, prng).map((key) => [key, valueOf(spec.of, prng)]),
      );
    case "object":
      return objectOf(spec.fields, prng);
    case "banded":
      return {
        ...objectOf(spec.before, prng),
        ...Object.fromEntries(keysOf("band", prng).map((key) => [key, valueOf(spec.of, prng)])),
        ...objectOf(spec.after, prng),
      };
    case "either":
      return valueOf(prng.pick(spec.of), prng);
    case "anything":
      return prng.pick<unknown>([1, "a", null, [1, [2]], { a: { b: 1 } }]);
  }
}

function objectOf(fields: Fields, prng: Prng): Record<string, unknown> {
  const bag: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields)) {
    const { spec, isOptional } = fieldSpec(field);
    if (!isOptional || prng.chance(1, 2)) bag[key] = valueOf(spec, prng);
  }
  return bag;
}

function extentOf(prng: Prng, lowest: number): [number, number] {
  if (prng.chance(1, 8)) return [0, 1 + prng.below(5)];
  const first = 10 + prng.below(100);
  return prng.chance(1, 3)
    ? [first, -(1 + prng.below(10 - lowest + 1))]
    : [first, 1 + prng.below(9)];
}

function textOf(rule: string, prng: Prng): string {
  switch (rule) {
    case "hex64":
      return prng.uint32().toString(16).padStart(16, "0");
    case "band":
      return prng.pick(BANDS);
    case "limit":
      return prng.pick([...BANDS, "bytes"]);
    case "signal":
      return prng.pick(["f1", "c2", "t3"]);
    case "holder":
      return prng.pick(["r1", "lock-a", "9"]);
    case "word":
      return prng.pick(["leak", "two_words", "a1"]);
    default:
      return prng.pick(["", 'a "quoted" text', "colon: and { bracket [", "ünï", "plain"]);
  }
}

function keysOf(keys: string, prng: Prng): string[] {
  const all: Record<string, string[]> = {
    band: BANDS,
    pages: ["virtual", "slots", ...BANDS],
    request: ["r1", "r2", "r:3"],
    component: [...BANDS, "chain", "rows"],
    purpose: ["main", "track"],
    word: ["kv_bytes", "rest"],
    any: ["free", "x_any", "Any Key"],
  };
  return (all[keys] ?? []).filter(() => prng.chance(1, 2));
}

/** A random valid `op` line of an operation. */
export function opLineOf(spec: OperationSpec, prng: Prng): Record<string, unknown> {
  const line: Record<string, unknown> = {
    kind: "op",
    n: prng.below(1000),
    op: spec.name satisfies OperationName,
    args: valueOf(spec.args, prng),
  };
  if (prng.chance(3, 4)) line["ok"] = valueOf(spec.ok, prng);
  else line["err"] = errorOf(spec, prng);
  if (prng.chance(1, 2)) line["fx"] = [...(valueOf(EFFECTS, prng) as unknown[]), ["wait", "f1"]];
  if (prng.chance(1, 2))
    line["digest"] = { full: "0123456789abcdef", ...(valueOf(DIGESTS, prng) as object) };
  if (line["ok"] !== undefined && prng.chance(1, 8)) line["message"] = textOf("any", prng);
  if (prng.chance(1, 8)) line["site"] = textOf("any", prng);
  if (prng.chance(1, 8)) line["at_us"] = prng.below(1000);
  return line;
}

function errorOf(spec: OperationSpec, prng: Prng): Record<string, unknown> {
  const error = valueOf(ERROR, prng) as Record<string, unknown>;
  const code = prng.pick([...spec.refusals, "invalid"]);
  const rule = code === "invalid" ? { rule: "name_state" } : {};
  const { code: _code, rule: _rule, ...rest } = error;
  return { code, ...rule, ...rest };
}

/** All containers of a value, itself included, with their paths. */
function containers(value: unknown): (unknown[] | Record<string, unknown>)[] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.values(value).flatMap(containers);
  return [value as Record<string, unknown>, ...below];
}

const STRANGE: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  2 ** 53,
  1e300,
  "",
  "zzz",
  "R1",
  [],
  [[1, 0]],
  [[5, -9]],
  [[2 ** 53, 1]],
  {},
  { zzz: 1 },
];

/** The same line with one random change; it may still be valid. */
export function mutated(line: Record<string, unknown>, prng: Prng): Record<string, unknown> {
  const copy = structuredClone(line);
  const target = prng.pick(containers(copy));
  if (Array.isArray(target)) {
    if (target.length > 0 && prng.chance(1, 2))
      target[prng.below(target.length)] = prng.pick(STRANGE);
    else if (prng.chance(1, 2)) target.push(prng.pick(STRANGE));
    else target.pop();
    return copy;
  }
  const keys = Object.keys(target);
  const key = keys.length === 0 ? "zzz" : prng.pick(keys);
  const choice = prng.below(5);
  if (choice === 0) delete target[key];
  else if (choice === 1) target[key] = prng.pick(STRANGE);
  else if (choice === 2)
    target[prng.pick(["zzz", "reqq", "x_free", "__proto__x", "virtual", "ful", "step"])] =
      prng.pick(STRANGE);
  else if (choice === 3) {
    target[`${key}s`] = target[key];
    delete target[key];
  } else target["x_extension"] = { any: ["thing"] };
  return copy;
}
