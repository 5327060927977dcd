// Four judges of a line must agree: the published schema, the exact check, the quick check, the reader's parser.
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { canonicalLine, canonicalValue } from "../../src/trace/canonical.js";
import {
  answerProblemOf,
  argsProblem,
  countAllKeys,
  inspectOperationLine,
  isPlainOpLine,
} from "../../src/trace/check.js";
import { inspectContext } from "../../src/trace/inspect.js";
import { keyCounter } from "../../src/trace/key-count.js";
import type { OpLine } from "../../src/trace/lines.js";
import { lineBytes, LineScan, findDuplicateKey } from "../../src/trace/scan.js";
import { publishedSchemas } from "../../src/trace/schema-documents.js";
import { SPECS, WORDS, mutated, opLineOf, valueOf } from "./values.js";

const SEEDS = 25;
type Bag = Record<string, unknown>;
const problemOf = (line: Bag): string | null => {
  const problem = inspectOperationLine(structuredClone(line), "op", inspectContext(WORDS));
  return problem === null ? null : `${problem.path}: ${problem.message}`;
};

describe("valid lines of every operation", () => {
  for (const [index, spec] of SPECS.entries()) {
    test(spec.name, () => {
      for (let seed = 0; seed < SEEDS; seed++) {
        const line = opLineOf(spec, new Prng(seed, index));
        const text = JSON.stringify(line);
        expect(problemOf(line), text).toBeNull();
        expect(isPlainOpLine(line, countAllKeys(line), WORDS), text).toBe(true);
        expect(canonicalLine(line as unknown as OpLine), "canonical order").toBe(text);
      }
    });
  }
});

test("shuffled keys come back into canonical order", () => {
  const shuffle = (value: unknown, prng: Prng): unknown => {
    if (Array.isArray(value)) return value.map((item) => shuffle(item, prng));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(
      ([key, member]) => [key, shuffle(member, prng)] as const,
    );
    for (let i = entries.length - 1; i > 0; i--) {
      const j = prng.below(i + 1);
      [entries[i], entries[j]] = [entries[j]!, entries[i]!];
    }
    return Object.fromEntries(entries);
  };
  let moved = 0;
  for (const [index, spec] of SPECS.entries()) {
    // maps keep the order they stand in, so take operations whose fields alone are shuffled
    if (JSON.stringify(spec.args).includes('"map"')) continue;
    const args = valueOf(spec.args, new Prng(7, index));
    const shuffled = shuffle(args, new Prng(8, index));
    if (JSON.stringify(shuffled) !== JSON.stringify(args)) moved += 1;
    expect(JSON.stringify(canonicalValue(spec.args, shuffled))).toBe(JSON.stringify(args));
  }
  expect(moved).toBeGreaterThan(10);
});

describe("broken lines", () => {
  const ajv = new Ajv2020({ strict: false, inlineRefs: false });
  const trace = publishedSchemas()["trace.schema.json"] as { $id: string };
  ajv.addSchema(trace);
  // The published schema knows neither a run's bands nor sums: those two are excused.
  const excused = /unknown band|unknown component|extent overflow/;

  test("all judges agree on thousands of small changes", () => {
    const counts = { good: 0, bad: 0, excused: 0 };
    for (const [index, spec] of SPECS.entries()) {
      const published = ajv.getSchema(`${trace.$id}#/$defs/op:${spec.name}`)!;
      const prng = new Prng(99, index);
      for (let i = 0; i < 60; i++) {
        const line = mutated(opLineOf(spec, prng), prng);
        if (line["op"] !== spec.name || line["kind"] !== "op") continue;
        const text = JSON.stringify(line);
        const problem = problemOf(line);
        const isGood = published(line) === true;
        if (problem !== null && excused.test(problem)) counts.excused += 1;
        else expect(`${isGood}`, `${text}\n${problem ?? "no problem"}`).toBe(`${problem === null}`);
        // The quick way may be unsure, but never wrong.
        if (isPlainOpLine(line, countAllKeys(line), WORDS)) expect(problem, text).toBeNull();
        counts[problem === null ? "good" : "bad"] += 1;
      }
    }
    expect(counts.good).toBeGreaterThan(300);
    expect(counts.bad).toBeGreaterThan(1000);
    expect(counts.excused).toBeGreaterThan(10);
  });

  test("an error of a trace is never `unsupported`; an implementation's answer may be", () => {
    const line = {
      kind: "op",
      n: 1,
      op: "tree.lock",
      args: { key: [], len: 0, req: "a" },
      err: { code: "unsupported" },
    };
    expect(problemOf(line)).toMatch(/"unsupported" is no answer of tree.lock/);
    expect(answerProblemOf("tree.lock", { err: { code: "unsupported" } })).toBeNull();
  });

  test("both or neither of ok and err, codes of other operations, invalid without a rule", () => {
    const op = { kind: "op", n: 1, op: "row.free", args: { req: "r1" } };
    expect(problemOf({ ...op, ok: {}, err: { code: "invalid", rule: "row_in_use" } })).toMatch(
      /both "ok" and "err"/,
    );
    expect(problemOf(op)).toMatch(/neither "ok" nor "err"/);
    expect(problemOf({ ...op, err: { code: "refused_rows" } })).toMatch(
      /"refused_rows" is no answer of row.free/,
    );
    expect(problemOf({ ...op, err: { code: "invalid" } })).toMatch(/"invalid" without "rule"/);
    expect(problemOf({ ...op, err: { code: "invalid", rule: "row_in_us" } })).toMatch(
      /did you mean "row_in_use"/,
    );
    expect(
      problemOf({ ...op, err: { code: "invalid", rule: "row_in_use", message: "m" } }),
    ).toBeNull();
  });

  test("arguments alone, with and without the run's bands", () => {
    expect(argsProblem("ask.fits", { demand: { full: 1 } }, WORDS)).toBeNull();
    expect(argsProblem("ask.fits", { demand: { ful: 1 } }, WORDS)?.message).toMatch(
      /did you mean "full"/,
    );
    expect(argsProblem("ask.fits", { demand: { ful: 1 } })).toBeNull();
    expect(argsProblem("ask.fits", { demand: { full: 1 }, more: 2 })?.message).toMatch(
      /unknown key "more"/,
    );
    expect(argsProblem("ask.fits", null)?.message).toMatch(/expected an object/);
    expect(answerProblemOf("ask.fits", { ok: { fits: 1 } })?.path).toBe("/ok/fits");
    expect(answerProblemOf("ask.fits", [])?.message).toMatch(/expected an object/);
  });
});

describe("counting keys", () => {
  test("the counter of a spec knows every key of a valid value", () => {
    for (const [index, spec] of SPECS.entries()) {
      for (let seed = 0; seed < SEEDS; seed++) {
        const value = valueOf(spec.ok, new Prng(seed, index));
        expect(keyCounter(spec.ok)(value, WORDS), JSON.stringify(value)).toBe(countAllKeys(value));
      }
    }
  });

  test("the scan of a line's bytes: exact once asked, an upper bound before, wherever the line lies", () => {
    const scan = new LineScan();
    for (const [index, spec] of SPECS.entries()) {
      const line = opLineOf(spec, new Prng(3, index));
      const text = JSON.stringify(line);
      const bytes = Buffer.from(text);
      for (let offset = 0; offset < 5; offset++) {
        const room = lineBytes(bytes.length + 16);
        room.bytes.fill(":[{é:", 0);
        bytes.copy(room.bytes, offset);
        scan.look(room, offset, offset + bytes.length);
        const colons = bytes.filter((byte) => byte === 0x3a).length;
        const openers = bytes.filter((byte) => byte === 0x5b || byte === 0x7b).length;
        expect([scan.keys, scan.depth, scan.isAscii]).toEqual([
          colons,
          openers,
          bytes.length === text.length,
        ]);
        scan.lookExactly();
        expect([scan.keys, scan.depth]).toEqual([countAllKeys(line), depthOf(line)]);
      }
    }
  });

  test("a long line's counters do not overflow", () => {
    const text = `{"a":[${'{"b":[1]},'.repeat(40_000)}0]}`;
    const room = lineBytes(text.length);
    room.bytes.write(text);
    const scan = new LineScan();
    scan.look(room, 0, text.length);
    expect([scan.keys, scan.depth]).toEqual([40_001, 80_002]);
    scan.lookExactly();
    expect([scan.keys, scan.depth]).toEqual([40_001, 4]);
  });

  test("a key that stands twice is found, equal keys of different objects are not", () => {
    expect(findDuplicateKey('{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}')).toBeNull();
    expect(findDuplicateKey('{"a":1,"b":{"c":2,"c" : 3}}')).toEqual({ key: "c", column: 19 });
    expect(findDuplicateKey('{"a":"a\\":","\\u0061":1}')).toEqual({ key: "a", column: 13 });
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
