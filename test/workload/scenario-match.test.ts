// The partial match of scenarios.
import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/base/operations.js";
import type { Expectation } from "../../src/workload/scenario-match.js";
import { matchExpectation } from "../../src/workload/scenario-match.js";

const TAKEN: Answer = {
  ok: {
    pages: {
      r1: {
        virtual: [[2, 4]],
        full: [
          [12, 4],
          [20, -2],
        ],
      },
    },
    step: "no_move",
  },
  fx: [
    ["hostread", "recovery"],
    ["wait", "f1"],
    ["move", "full", [[4, 9]]],
    ["zero", "full", [[12, 4]]],
  ],
};
const REFUSED: Answer = {
  err: { code: "refused_capacity", demand: { full: 4 }, limit: "bytes", message: "no room" },
};

describe("what matches", () => {
  test.each<[string, Expectation | null, Answer]>([
    ["nothing stated: it must be ok", null, TAKEN],
    ["an empty expectation", {}, TAKEN],
    ["some keys", { ok: { step: "no_move" } }, TAKEN],
    ["deep keys", { ok: { pages: { r1: { virtual: [[2, 4]] } } } }, TAKEN],
    [
      "any six ids, whatever their direction",
      { ok: { pages: { r1: { full: { count: 6 } } } } },
      TAKEN,
    ],
    ["not", { ok: { step: { not: "relayout" } } }, TAKEN],
    ["any", { ok: { step: { any: ["relayout", "no_move"] } } }, TAKEN],
    ["not around any", { ok: { step: { not: { any: ["relayout", "flush_ends"] } } } }, TAKEN],
    ["all effects", { fx: TAKEN.fx }, TAKEN],
    [
      "effects in order, others between",
      {
        fx: {
          has: [
            ["wait", "f1"],
            ["zero", "full", { count: 4 }],
          ],
        },
      },
      TAKEN,
    ],
    ["no effect of a kind", { fx: { none: ["copy", "hostwait"] } }, TAKEN],
    ["no effects at all", { fx: [] }, { ok: {} }],
    ["a refusal, its code alone", { err: { code: "refused_capacity" } }, REFUSED],
    ["a refusal with details", { err: { code: "refused_capacity", demand: { full: 4 } } }, REFUSED],
    ["remarks are no keys", { ok: { x_why: "because", step: "no_move" } }, TAKEN],
  ])("%s", (_, expectation, answer) => {
    expect(matchExpectation(expectation, answer)).toBeNull();
  });

  test("a state", () => {
    const state = { full: { live: 3, holes: [[2, 1]] } };
    const given = { state: { full: { holes: { count: 1 } } } };
    // only the parts that are looked at
    expect(matchExpectation(given, { ok: {} }, state as never)).toBeNull();
  });
});

describe("the first mismatch", () => {
  test.each<[string, Expectation | null, Answer, string]>([
    ["a refusal where nothing is stated", null, REFUSED, "/ok"],
    ["a refusal where ok is stated", { ok: {} }, REFUSED, "/ok"],
    ["ok where a refusal is stated", { err: { code: "refused_rows" } }, TAKEN, "/err"],
    ["another code", { err: { code: "refused_rows" } }, REFUSED, "/err/code"],
    ["another value", { ok: { step: "relayout" } }, TAKEN, "/ok/step"],
    ["a key that is not there", { ok: { ended: {} } }, TAKEN, "/ok/ended"],
    [
      "a longer list",
      {
        ok: {
          pages: {
            r1: {
              virtual: [
                [2, 4],
                [9, 1],
              ],
            },
          },
        },
      },
      TAKEN,
      "/ok/pages/r1/virtual",
    ],
    [
      "another id",
      { ok: { pages: { r1: { virtual: [[3, 4]] } } } },
      TAKEN,
      "/ok/pages/r1/virtual/0/0",
    ],
    [
      "another count",
      { ok: { pages: { r1: { full: { count: 5 } } } } },
      TAKEN,
      "/ok/pages/r1/full",
    ],
    ["a count of what is no list", { ok: { step: { count: 1 } } }, TAKEN, "/ok/step"],
    ["not", { ok: { step: { not: "no_move" } } }, TAKEN, "/ok/step"],
    ["any", { ok: { step: { any: ["relayout", "none"] } } }, TAKEN, "/ok/step"],
    [
      "effects out of order",
      {
        fx: {
          has: [
            ["zero", "full", [[12, 4]]],
            ["wait", "f1"],
          ],
        },
      },
      TAKEN,
      "/fx/has/1",
    ],
    ["an effect that must not be", { fx: { none: ["wait"] } }, TAKEN, "/fx/1"],
    ["effects where none may be", { fx: [] }, TAKEN, "/fx"],
    [
      "effects of a granted answer are looked at too",
      { ok: {}, fx: { none: ["move"] } },
      TAKEN,
      "/fx/2",
    ],
    ["a state that nobody gave", { state: { full: {} } }, TAKEN, "/state"],
  ])("%s", (_, expectation, answer, path) => {
    const mismatch = matchExpectation(expectation, answer);
    expect(mismatch?.path).toBe(path);
    expect(mismatch?.got).not.toEqual(mismatch?.expected);
  });
});
