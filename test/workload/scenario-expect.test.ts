// What a scenario expects is made of words that an answer can hold: a misspelt one is an error, never a pass.
import { describe, expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import { EFFECTS } from "../../src/trace/line-specs.js";
import { findOperation } from "../../src/trace/operation-table.js";
import { STATE } from "../../src/trace/state-spec.js";
import { expectationProblem } from "../../src/workload/scenario-expect.js";
import { matchExpectation } from "../../src/workload/scenario-match.js";
import { SPECS, WORDS, opLineOf, valueOf } from "../trace/values.js";

const KV = SPECS.filter(({ domain }) => domain === "kv");

function problemOf(op: string, wanted: Record<string, unknown>): string | null {
  const problem = expectationProblem(findOperation(op)!, wanted, WORDS, "");
  return problem === null ? null : `${problem.path}: ${problem.message}`;
}

/** A part of a value, as a scenario gives it: keys left out, values wrapped in patterns that still match. */
function partOf(value: unknown, prng: Prng): unknown {
  if (prng.chance(1, 12)) return { any: [partOf(value, prng), partOf(value, prng)] };
  if (Array.isArray(value)) return value.map((item) => partOf(item, prng));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(() => prng.chance(3, 4));
  return Object.fromEntries(kept.map(([key, member]) => [key, partOf(member, prng)]));
}

test("every part of every answer may be expected, and is met by that answer", () => {
  for (let seed = 0; seed < 12; seed++) {
    const prng = new Prng(seed, 31);
    for (const spec of KV) {
      const { ok, err, fx } = opLineOf(spec, prng) as Record<string, object | undefined>;
      // text of any kind may look like a pattern only by its keys, which no answer has
      const wanted = {
        ...(ok === undefined ? { err } : { ok: partOf(ok, prng) }),
        ...(fx === undefined ? {} : { fx: partOf(fx, prng) }),
        state: partOf(valueOf(STATE, prng), prng),
      };
      expect(problemOf(spec.name, wanted), JSON.stringify(wanted)).toBeNull();
      const { state: _state, ...answered } = wanted;
      const answer = {
        ...(ok === undefined ? { err } : { ok }),
        ...(fx === undefined ? {} : { fx }),
      };
      expect(matchExpectation(answered, answer as never), JSON.stringify(wanted)).toBeNull();
    }
  }
});

test("a letter too many in a key of a result or in the name of an effect is found, and the word is named", () => {
  for (let seed = 0; seed < 12; seed++) {
    const prng = new Prng(seed, 33);
    for (const spec of KV) {
      const ok = valueOf(spec.ok, prng) as Record<string, unknown>;
      const key = Object.keys(ok).find(
        (name) => /^[a-z_]{4,}$/.test(name) && spec.ok.type !== "map",
      );
      if (key !== undefined) {
        const { [key]: value, ...others } = ok;
        const found = problemOf(spec.name, { ok: { ...others, [`${key}q`]: value } });
        expect(found).toMatch(new RegExp(`^/ok/${key}q: .*"${key}q"; did you mean "${key}"`));
      }
      const [effect] = valueOf(EFFECTS, prng) as [string, ...unknown[]][];
      if (effect === undefined || effect[0] === "net") continue;
      const [tag, ...rest] = effect;
      const named = new RegExp(`"${tag}q"; did you mean "${tag}"`);
      for (const fx of [
        [[`${tag}q`, ...rest]],
        { has: [[`${tag}q`, ...rest]] },
        { none: [`${tag}q`] },
        { not: [[`${tag}q`, ...rest]] },
        { any: [[], [[`${tag}q`, ...rest]]] },
      ]) {
        expect(problemOf(spec.name, { fx })).toMatch(named);
      }
    }
  }
});

describe("an expectation that nothing can meet", () => {
  test.each<[string, string, Record<string, unknown>, RegExp]>([
    ["an unknown key of ok", "ask.fits", { ok: { fit: true } }, /^\/ok\/fit: .*"fits"/],
    ["one inside not", "ask.fits", { ok: { not: { fit: true } } }, /^\/ok\/not\/fit: /],
    ["one inside any", "ask.fits", { ok: { any: [{}, { fit: 1 }] } }, /^\/ok\/any\/1\/fit: /],
    ["a wrong type", "ask.fits", { ok: { fits: "yes" } }, /^\/ok\/fits: found "yes"/],
    ["a band of no configuration", "window.retire", { ok: { window_9: {} } }, /"window_8"/],
    ["a key of a band", "window.retire", { ok: { window_8: { cursr: 1 } } }, /"cursor"/],
    ["an unknown step", "chain.relieve", { ok: { step: "relayuot" } }, /"relayout"/],
    ["an unknown list of pages", "group.end", { ok: { freed: { virtal: [] } } }, /"virtual"/],
    [
      "a count of what are no ids",
      "admit.pass",
      { ok: { r1: { count: 1 } } },
      /unknown key "count"/,
    ],
    ["a misspelt count", "row.alloc", { ok: { rows: { r1: { count: 1 } } } }, /^\/ok\/rows\/r1: /],
    ["a count with a word", "group.end", { ok: { freed: { full: { count: "6" } } } }, /found "6"/],
    ["another word for it", "group.end", { ok: { freed: { full: { cout: 6 } } } }, /"count"/],
    ["not beside others", "ask.fits", { ok: { not: {}, fits: true } }, /unknown key "fits"/],
    ["any without alternatives", "ask.fits", { ok: { any: [] } }, /expected a list of patterns/],
    ["any of no list", "ask.fits", { ok: { any: { fits: true } } }, /expected a list of patterns/],
    ["an unknown key of err", "row.alloc", { err: { code: "refused_rows", fre: 1 } }, /"free"/],
    ["a code of another operation", "row.alloc", { err: { code: "refused_host" } }, /\/err\/code/],
    ["one inside any", "row.alloc", { err: { any: [{ code: "refused_row" }] } }, /"refused_rows"/],
    [
      "an error without code in any",
      "row.alloc",
      { err: { any: [{ need: 1 }] } },
      /states its code/,
    ],
    ["an unknown rule", "row.free", { err: { code: "invalid", rule: "row_in_us" } }, /row_in_use/],
    ["an effect of too few parts", "chain.flush", { fx: { has: [["wait"]] } }, /a list of 2/],
    ["has that is no list", "chain.flush", { fx: { has: ["wait", "f1"] } }, /expected an effect/],
    ["none that is no list", "chain.flush", { fx: { none: "wait" } }, /expected a list/],
    [
      "none of whole effects",
      "chain.flush",
      { fx: { none: [["wait", "f1"]] } },
      /^\/fx\/none\/0: /,
    ],
    ["has beside not", "chain.flush", { fx: { has: [], not: [] } }, /unknown key "has"/],
    ["an unknown key of fx", "chain.flush", { fx: { hass: [] } }, /"has"/],
    ["a band in an effect", "chain.flush", { fx: [["zero", "ful", [[1, 1]]]] }, /"full"/],
    ["a component", "chain.flush", { state: { chian: {} } }, /"chain"/],
    ["a field of one", "chain.flush", { state: { full: { lve: 1 } } }, /"live"/],
    [
      "a field of a row",
      "chain.flush",
      { state: { rows: { r1: { alocated: 1 } } } },
      /"allocated"/,
    ],
  ])("%s", (_, op, wanted, message) => {
    expect(problemOf(op, wanted)).toMatch(message);
  });
});

test("patterns may stand wherever a value may", () => {
  for (const [op, wanted] of [
    ["ask.fits", { ok: { fits: { not: true } } }],
    ["group.end", { ok: { freed: { full: { any: [{ count: 2 }, [[3, 1]]] } } } }],
    ["group.end", { ok: { freed: { full: [[{ not: 3 }, 1]] } } }],
    ["chain.flush", { fx: { has: [["wait", { any: ["f1", "c1"] }]], none: ["copy", "zero"] } }],
    ["chain.flush", { fx: { not: [] } }],
    ["chain.flush", { fx: [[{ not: "wait" }, "full", [[1, 2]]]] }],
    ["row.free", { err: { not: { code: "invalid" } } }],
    ["boot", { err: { code: "refused_plan", rule: "no_full_owner" } }],
    ["check.idle", { ok: { violations: [{ check: "leak", x_note: 1 }] } }],
    ["ask.max_new_tokens", { ok: { tokens: null } }],
    ["chain.flush", { state: { tree: [{ anything: [1] }], host: { of: "any" } } }],
  ] as const) {
    expect(problemOf(op, wanted), JSON.stringify(wanted)).toBeNull();
  }
});
