// No text of a file or an implementation reaches a terminal as something that the terminal acts on.
import { expect, test } from "vitest";
import { UsageError } from "../../src/base/errors.js";
import { compareText } from "../../src/report/compare-text.js";
import { PLAIN } from "../../src/report/palette.js";
import { recordText, replayText } from "../../src/report/record-text.js";
import { runText } from "../../src/report/run-text.js";
import { validateText } from "../../src/report/validate-text.js";
import { visible } from "../../src/report/words.js";
import type { CompareResult, Divergence, SideInfo } from "../../src/tools/outcome.js";

const EVIL = "a\u001b[2J\u0000\u0007\nb\r\u009bc\u202ed\u2028";
// What a report itself writes: line feeds between its lines.
const isClean = (text: string): boolean =>
  !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/.test(text) && !/^b\\r/m.test(text);

const side: SideInfo = {
  ...{ spec: EVIL, name: EVIL, version: EVIL, revision: EVIL, dirty: true, formatVersion: 1 },
  ...{ digest: "layout", fx: true, configHash: null, pageSizes: [1], operationKinds: 1 },
};
const failure = { kind: "crash" as const, message: EVIL, stderrTail: EVIL };
const args = { [EVIL]: EVIL, reqs: [EVIL] };

function compared(divergence: Partial<Divergence>): CompareResult {
  const found: Divergence = {
    ...{ n: 1, op: EVIL, place: "at", args, kind: "refusal" },
    base: { err: { code: "invalid", rule: EVIL }, fx: [["wait", EVIL]] },
    candidate: { ok: { [EVIL]: EVIL } as never },
    fields: [{ path: `/ok/${EVIL}`, base: undefined, candidate: EVIL }],
    components: [{ component: EVIL, base: EVIL, candidate: null }],
    ...{ agreeing: [EVIL], failure: null, cause: { n: 0, op: EVIL }, renaming: null },
    before: [{ n: 0, op: EVIL, args, answer: { err: { code: "invalid", rule: EVIL } } }],
    ...divergence,
  };
  return {
    ...{ verdict: "divergent", mode: "exact", base: side, candidate: side },
    differences: [{ what: EVIL, base: EVIL, candidate: EVIL, isLoss: true }],
    runs: [
      {
        ...{ run: EVIL, verdict: "divergent", agreed: 1, operations: 2, skipped: 0 },
        examination: {
          ...{ upTo: 1, isWhole: true, holds: [], differing: 1, recovers: null, unstable: null },
          origins: [{ side: "base", space: EVIL, id: 1, n: 0, op: EVIL, use: "given" }],
          states: { base: EVIL, fields: [{ path: `/state/${EVIL}`, base: EVIL, candidate: 1 }] },
        },
        ...{ unstable: null, accepted: EVIL },
        ...{ agreedRefusals: 0, alignment: null, divergence: found, reproduce: EVIL, note: null },
      },
      {
        ...{ run: EVIL, verdict: "invalid", agreed: 1, operations: 2, skipped: 0 },
        ...{ examination: null, unstable: null, accepted: null },
        ...{ agreedRefusals: 0, alignment: null, divergence: null, reproduce: null, note: EVIL },
      },
      {
        ...{ run: EVIL, verdict: "flaky", agreed: 1, operations: 2, skipped: 0 },
        ...{ agreedRefusals: 0, alignment: null, divergence: null, reproduce: null, note: null },
        ...{ examination: null, accepted: null },
        unstable: { n: 1, op: EVIL, fields: [{ path: `/ok/${EVIL}`, base: 1, candidate: 2 }] },
      },
    ],
    ...{
      first: { run: EVIL, n: 1 },
      operations: 2,
      skipped: 0,
      hidden: 0,
      unread: false,
      gone: [],
      leftOut: 0,
    },
    error: new UsageError(EVIL),
  };
}

test("control characters are written out, and nothing else is changed", () => {
  expect(visible("a\u001bb\n\u0000")).toBe("a\\u001bb\\n\\u0000");
  expect(visible("größer → ∞, 页")).toBe("größer → ∞, 页");
  expect(isClean(EVIL)).toBe(false);
});

test.each([
  ["refusal", {}],
  ["result", { kind: "result", base: { ok: { [EVIL]: [EVIL] } as never } }],
  ["state", { kind: "state", place: "after", base: null, candidate: null }],
  ["crash", { kind: "crash", candidate: null, failure }],
  ["missing", { kind: "missing operation", candidate: null }],
] as const)("compare: %s", (_name, divergence) => {
  for (const verbose of [false, true]) {
    const text = compareText(compared(divergence), { palette: PLAIN, verbose, trace: null });
    expect(text).toContain("\\u001b");
    expect(isClean(text)).toBe(true);
  }
});

test("record, replay, run and validate", () => {
  const counts = { runs: 1, operations: 1, kept: 1, refusals: 0 };
  const broken = { run: EVIL, n: 1, place: "at", failure } as const;
  const recorded = { ...counts, states: 0, failure: broken, counters: { [EVIL]: 1 } };
  const violation = { run: EVIL, n: 1, op: EVIL, args, failure };
  const replayed = {
    ...counts,
    violations: [violation],
    isPartial: false,
    passes: 1,
    latencies: null,
    error: null,
  };
  const one = { name: EVIL, config: EVIL, file: EVIL, verdict: "failed", n: 1, op: EVIL } as const;
  const scenarios = [{ ...one, message: EVIL, operations: 1 }];
  const file = { file: EVIL, kind: "trace", runs: 1, operations: 1, isPartial: false } as const;
  for (const text of [
    recordText(recorded, EVIL, EVIL, 1, PLAIN),
    replayText(replayed, PLAIN),
    runText(
      { leftOut: 0, verdict: "failed", scenarios, operations: 1, counters: { [EVIL]: 1 } },
      PLAIN,
      true,
    ),
    validateText(
      [
        { ...file, error: null },
        { ...file, error: new UsageError(EVIL) },
      ],
      PLAIN,
    ),
  ]) {
    expect(text).toContain("\\u001b");
    expect(isClean(text)).toBe(true);
  }
});
