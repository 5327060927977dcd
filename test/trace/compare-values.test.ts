// When two answers agree, and where they part.
import { describe, expect, test } from "vitest";
import { expand, toExtents } from "../../src/base/extents.js";
import type { Answer, Extent, OperationName } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import {
  answerDifferences,
  equalAnswers,
  sameJson,
  valueDifferences,
} from "../../src/trace/compare-values.js";
import { EXTENTS, HOST_EXTENTS } from "../../src/trace/fields.js";
import { SPECS, mutated, opLineOf } from "./values.js";

const paths = (op: OperationName, base: unknown, candidate: unknown): string[] =>
  answerDifferences(op, base as Answer, candidate as Answer).map((found) => found.path);

/** The same ids, cut into extents anywhere. */
function cut(ids: readonly number[], prng: Prng): Extent[] {
  const list: Extent[] = [];
  for (const extent of toExtents(ids)) {
    let [first, count] = extent;
    const step = first === 0 ? 0 : Math.sign(count);
    while (count !== 0) {
      const size = Math.min(Math.abs(count), 1 + prng.below(3));
      const signed = step === -1 && size > 1 ? -size : size;
      list.push([first, signed]);
      first += step * size;
      count -= Math.sign(count) * size;
    }
  }
  return list;
}

describe("extents", () => {
  test("are equal exactly when their ids are, merged or not", () => {
    let different = 0;
    for (let seed = 0; seed < 3000; seed++) {
      const prng = new Prng(seed, 1);
      const ids: number[] = [];
      while (ids.length < 12) {
        const first = 5 + prng.below(8);
        const run = 1 + prng.below(4);
        const step = prng.pick([1, -1, 1]);
        for (let i = 0; i < run; i++) ids.push(prng.chance(1, 12) ? 0 : first + i * step);
      }
      const other = [...ids];
      if (prng.chance(1, 2)) other[prng.below(other.length)] = prng.below(13);
      const [left, right] = [cut(ids, prng), cut(other, prng)];
      expect(expand(left), "the cutting keeps the ids").toEqual(ids);
      const isSame = ids.join() === other.join();
      if (!isSame) different += 1;
      expect(
        valueDifferences(EXTENTS, left, right).length === 0,
        JSON.stringify([left, right]),
      ).toBe(isSame);
    }
    expect(different).toBeGreaterThan(1000);
  });

  test("of host pages count from 0; of device pages 0 is unbound", () => {
    const merged = [[0, 3]];
    const single = [
      [0, 1],
      [1, 2],
    ];
    expect(valueDifferences(HOST_EXTENTS, merged, single)).toEqual([]);
    expect(valueDifferences(EXTENTS, merged, single)).toHaveLength(1);
    expect(
      valueDifferences(
        EXTENTS,
        [[0, 3]],
        [
          [0, 1],
          [0, 2],
        ],
      ),
    ).toEqual([]);
    expect(
      valueDifferences(
        EXTENTS,
        [
          [0, 1],
          [1, 1],
        ],
        [[0, 2]],
      ),
    ).toHaveLength(1);
  });

  test("of any length are compared by runs, not by ids", () => {
    const huge = [[1, 2 ** 40]];
    expect(
      valueDifferences(EXTENTS, huge, [
        [1, 2 ** 39],
        [2 ** 39 + 1, 2 ** 39],
      ]),
    ).toEqual([]);
    expect(valueDifferences(EXTENTS, huge, [[1, 2 ** 40 - 1]])).toHaveLength(1);
  });
});

describe("answers of every operation", () => {
  test("are equal to themselves, whatever the order of keys; a change is found from both sides", () => {
    let changed = 0;
    for (const [index, spec] of SPECS.entries()) {
      const prng = new Prng(11, index);
      for (let i = 0; i < 20; i++) {
        const line = opLineOf(spec, prng);
        const { ok, err, fx, digest } = line;
        const answer = {
          ...(ok ? { ok } : { err }),
          ...(fx ? { fx } : {}),
          ...(digest ? { digest } : {}),
        } as Answer;
        const reversed = reverseKeys(answer) as Answer;
        expect(equalAnswers(spec.name, answer, reversed), JSON.stringify(answer)).toBe(true);
        expect(answerDifferences(spec.name, answer, reversed)).toEqual([]);
        const other = mutated(answer as Record<string, unknown>, prng) as Answer;
        const isEqual = equalAnswers(spec.name, answer, other);
        expect(equalAnswers(spec.name, other, answer)).toBe(isEqual);
        const found = answerDifferences(spec.name, answer, other);
        expect(found.length === 0).toBe(isEqual);
        const back = answerDifferences(spec.name, other, answer);
        expect(new Set(back.map((place) => place.path))).toEqual(
          new Set(found.map((place) => place.path)),
        );
        if (!isEqual) changed += 1;
      }
    }
    expect(changed).toBeGreaterThan(500);
  });

  test("a difference says where, and what each side has", () => {
    const base = {
      ok: { pages: { r1: { full: [[7, 2]] }, r2: { full: [[9, 1]] } }, step: "no_move" },
    };
    const candidate = {
      ok: {
        pages: {
          r1: {
            full: [
              [7, 1],
              [9, 1],
            ],
          },
          r2: { full: [[8, 1]] },
        },
        step: "flush_ends",
      },
    };
    expect(answerDifferences("tokens.extend", base as never, candidate as never)).toEqual([
      {
        path: "/ok/pages/r1/full",
        base: [[7, 2]],
        candidate: [
          [7, 1],
          [9, 1],
        ],
      },
      { path: "/ok/pages/r2/full", base: [[9, 1]], candidate: [[8, 1]] },
      { path: "/ok/step", base: "no_move", candidate: "flush_ends" },
    ]);
    expect(
      answerDifferences("tokens.extend", base as never, candidate as never, { limit: 1 }),
    ).toHaveLength(1);
  });

  test("one granted and one refused differ as a whole", () => {
    expect(paths("row.free", { ok: {} }, { err: { code: "invalid", rule: "row_in_use" } })).toEqual(
      ["/ok", "/err"],
    );
  });

  test("what is absent differs from what is there, an empty fx or digest does not", () => {
    expect(paths("row.free", { ok: {} }, { ok: {}, fx: [], digest: {} })).toEqual([]);
    expect(paths("row.free", { ok: {} }, { ok: {}, fx: [["wait", "f1"]] })).toEqual(["/fx/0"]);
    expect(
      paths("tokens.free", { ok: { freed: {} } }, { ok: { freed: {}, deferred: {} } }),
    ).toEqual(["/ok/deferred"]);
  });

  test("message and x_ keys are never compared, a field named message elsewhere would be", () => {
    const refusal = (extra: object): object => ({
      err: { code: "invalid", rule: "row_in_use", ...extra },
    });
    expect(
      paths("row.free", refusal({ message: "a" }), refusal({ message: "b", x_hint: 1 })),
    ).toEqual([]);
    expect(paths("row.free", refusal({ req: "r1" }), refusal({ req: "r2" }))).toEqual(["/err/req"]);
    expect(valueDifferences({ type: "anything" }, { message: 1 }, { message: 2 })).toHaveLength(1);
  });

  test("effects are compared in order, each with its own fields", () => {
    const fx = (...list: unknown[]): object => ({ ok: {}, fx: list });
    const zero = [
      "zero",
      "full",
      [
        [7, 1],
        [8, 1],
      ],
    ];
    expect(paths("row.free", fx(zero), fx(["zero", "full", [[7, 2]]]))).toEqual([]);
    expect(paths("row.free", fx(zero), fx(["zero", "full", [[7, 3]]]))).toEqual(["/fx/0/2"]);
    expect(paths("row.free", fx(zero, ["wait", "f1"]), fx(["wait", "f1"], zero))).toEqual([
      "/fx/0",
      "/fx/1",
    ]);
    expect(paths("row.free", fx(["wait", "f1"]), fx(["wait", "f2"]))).toEqual(["/fx/0/1"]);
  });

  test("sets have no order", () => {
    const idle = (...violations: object[]): object => ({ ok: { violations, skipped: false } });
    const [leak, lost] = [
      { check: "leak", page: 3 },
      { check: "lost", page: 4 },
    ];
    expect(paths("check.idle", idle(leak, lost), idle({ page: 4, check: "lost" }, leak))).toEqual(
      [],
    );
    expect(paths("check.idle", idle(leak, lost), idle(leak))).toEqual(["/ok/violations"]);
    const busy = (...holders: string[]): object => ({ err: { code: "refused_busy", holders } });
    expect(paths("contents.discard", busy("r1", "c2"), busy("c2", "r1"))).toEqual([]);
  });

  test("parts that one side cannot tell are left out", () => {
    const base = { ok: {}, fx: [["wait", "f1"]], digest: { full: "a" } } as unknown as Answer;
    expect(equalAnswers("row.free", base, { ok: {} })).toBe(false);
    expect(equalAnswers("row.free", base, { ok: {} }, { fx: false, digest: false })).toBe(true);
    expect(
      answerDifferences("row.free", base, { ok: {} }, { fx: false }).map(({ path }) => path),
    ).toEqual(["/digest/full"]);
  });
});

test("sameJson is strict about types and missing keys", () => {
  expect(sameJson({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toBe(true);
  for (const [left, right] of [
    [[], {}],
    [{}, []],
    [null, {}],
    [{}, null],
    [[1], [1, 2]],
    [{ a: 1 }, { b: 1 }],
    [{}, { a: 1 }],
    [1, "1"],
    [undefined, null],
  ]) {
    expect(sameJson(left, right), JSON.stringify([left, right])).toBe(false);
    expect(sameJson(right, left)).toBe(false);
  }
});

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, member]) => [key, reverseKeys(member)]));
}
