// What is printed of two sides differs whenever they differ; ids are ranges, sizes carry units.
import { describe, expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { expand, toExtents } from "../../src/base/extents.js";
import type { Answer, Extents } from "../../src/base/operations.js";
import {
  agreeingFields,
  answerDiff,
  contrastedTexts,
  fieldDiff,
  visiblyDifferent,
} from "../../src/report/answer-diff.js";
import { answerText, effectText, extentsText, valueText } from "../../src/report/values.js";
import { bytes, counted, grouped, listed, shortened } from "../../src/report/words.js";

describe("values", () => {
  test("extents read as ranges, in order and direction", () => {
    expect(extentsText([[7, 3]])).toBe("7..9");
    expect(extentsText([[9, -3]])).toBe("9..7");
    expect(
      extentsText([
        [5, 1],
        [0, 4],
        [8, 2],
      ]),
    ).toBe("5, 4 unbound, 8..9");
    expect(extentsText([])).toBe("none");
  });

  test("different id lists never read the same (over seeds)", () => {
    const prng = new Prng(5);
    const list = (): number[] => Array.from({ length: prng.below(6) }, () => prng.between(1, 7));
    const seen = new Map<string, string>();
    for (let i = 0; i < 3000; i++) {
      const ids = list();
      const text = extentsText(toExtents(ids));
      const key = ids.join(",");
      expect(seen.get(text) ?? key).toBe(key);
      seen.set(text, key);
    }
  });

  test("sizes carry units, only where they are bytes", () => {
    expect(valueText({ arena_bytes: 1_048_576, pages: 3 })).toBe(
      "arena_bytes 1048576 B (1 MiB), pages 3",
    );
    expect(bytes(1536)).toBe("1536 B (1.5 KiB)");
    expect(bytes(12)).toBe("12 B");
  });

  test("moves are pairs, not ranges; an empty float is no span", () => {
    expect(
      effectText([
        "move",
        "full",
        [
          [11, 15],
          [2, 1],
        ],
      ]),
    ).toBe("move full 11→15, 2→1");
    expect(effectText(["zero", "full", [[11, 5]]])).toBe("zero full 11..15");
    expect(valueText({ spans: { full: [4, 2], window_8: [36, 0] } })).toBe(
      "spans (full 4..5, window_8 none)",
    );
  });

  test("words of answers", () => {
    expect(answerText({ ok: {} })).toBe("granted");
    expect(answerText({ err: { code: "refused_ids", need: 2, free: 1, message: "x" } })).toBe(
      "refused_ids: need 2, free 1",
    );
    expect(answerText(null)).toBe("no answer");
  });
});

describe("words", () => {
  test("counts", () => {
    expect(grouped(1234567)).toBe("1,234,567");
    expect(grouped(999)).toBe("999");
    expect(counted(1, "run")).toBe("1 run");
    expect(counted(0, "run")).toBe("0 runs");
    expect(listed(["a", "b", "c"])).toBe("a, b and c");
    expect(shortened("abcdef", 3)).toBe("abc… (3 characters more)");
  });
});

describe("two sides", () => {
  const prng = new Prng(11);
  const ids = (length: number): Extents =>
    toExtents(Array.from({ length }, () => prng.between(1, 5000)));
  const answer = (length: number): Answer => ({
    ok: { pages: { r1: { virtual: ids(length), full: ids(length) } }, step: "no_move" },
    fx: [["zero", "full", ids(length)]],
  });

  test("answers that differ anywhere show it, short or long, abbreviated or whole", () => {
    for (let i = 0; i < 300; i++) {
      const length = prng.pick([1, 3, 40, 400]);
      const base = answer(length);
      const candidate = JSON.parse(JSON.stringify(base));
      const where = prng.pick(["virtual", "full", "step", "fx"]);
      if (where === "step") candidate.ok.step = "flush_ends";
      else if (where === "fx") candidate.fx.push(["wait", "f9"]);
      else {
        const list = expand(candidate.ok.pages.r1[where]);
        list[prng.below(list.length)]! += 9000;
        candidate.ok.pages.r1[where] = toExtents(list);
      }
      for (const isWhole of [false, true]) {
        const lines = answerDiff(base, candidate, isWhole);
        const minus = lines.filter(({ sign }) => sign === "-").map(({ text }) => text);
        const plus = lines.filter(({ sign }) => sign === "+").map(({ text }) => text);
        expect(minus.join("\n")).not.toBe(plus.join("\n"));
      }
      if (where === "fx") continue;
      const [left, right] = contrastedTexts(answerText(base), answerText(candidate), 300);
      expect(left).not.toBe(right);
      expect(agreeingFields(base, candidate)).not.toContain(where);
    }
  });

  test("values that read alike are shown as they stand in JSON", () => {
    const [left, right] = visiblyDifferent(
      [[1, 2]],
      [
        [1, 1],
        [2, 1],
      ],
    );
    expect(left).not.toBe(right);
    for (const [base, candidate] of [
      [1, "1"],
      [null, undefined],
      ["a", ["a"]],
      [[], {}],
    ] as const) {
      const [one, two] = visiblyDifferent(base, candidate);
      expect(one).not.toBe(two);
      const lines = fieldDiff([{ path: "/x", base, candidate }], false);
      expect(lines[0]?.text).not.toBe(lines[1]?.text);
    }
  });

  test("what agrees is named only when it agrees everywhere", () => {
    const base = {
      ok: { pages: { r1: { full: [[1, 1]] }, r2: { full: [[2, 1]] } }, step: "no_move" },
    };
    const candidate = {
      ok: { pages: { r1: { full: [[1, 1]] }, r2: { full: [[3, 1]] } }, step: "no_move" },
    };
    expect(agreeingFields(base as Answer, candidate as Answer)).toEqual(["step"]);
  });
});
