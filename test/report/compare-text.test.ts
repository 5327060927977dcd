// The text of a comparison holds what a reader needs, and its summary counts what was really looked at.
import { expect, test } from "vitest";
import { compareText } from "../../src/report/compare-text.js";
import { compareJson } from "../../src/report/json.js";
import { PLAIN } from "../../src/report/palette.js";
import type {
  CompareResult,
  Divergence,
  RunComparison,
  SideInfo,
} from "../../src/tools/outcome.js";

const side: SideInfo = {
  ...{
    spec: "base.jsonl",
    name: "unified-trace",
    version: "0.1.0",
    revision: "1a2b3c4d5e6f7890",
    dirty: false,
  },
  ...{
    formatVersion: 1,
    digest: "layout",
    fx: true,
    configHash: null,
    pageSizes: [16],
    operationKinds: 3,
  },
};
const divergence: Divergence = {
  place: "at",
  ...{ n: 41, op: "tokens.decode", args: { batch: [{ req: "r1", len: 17 }] }, kind: "result" },
  base: { ok: { pages: { r1: { virtual: [[4, 1]], full: [[12, 1]] } }, step: "no_move" } },
  candidate: { ok: { pages: { r1: { virtual: [[4, 1]], full: [[15, 1]] } }, step: "no_move" } },
  fields: [{ path: "/ok/pages/r1/full", base: [[12, 1]], candidate: [[15, 1]] }],
  components: [{ component: "full", base: "0".repeat(16), candidate: "f".repeat(16) }],
  ...{
    agreeing: ["rows", "chain"],
    failure: null,
    cause: { n: 41, op: "tokens.decode" },
    renaming: null,
  },
  before: [{ n: 40, op: "row.alloc", args: { reqs: ["r1"] }, answer: { ok: { rows: { r1: 1 } } } }],
};
const run: RunComparison = {
  ...{
    run: "full+window/p16/seed-1",
    verdict: "divergent",
    agreed: 41,
    operations: 200,
    skipped: 0,
  },
  ...{
    agreedRefusals: 3,
    alignment: null,
    divergence,
    reproduce: "unified-trace compare …",
    note: null,
  },
  ...{ examination: null, unstable: null, accepted: null },
};
const result: CompareResult = {
  ...{
    verdict: "divergent",
    mode: "exact",
    base: side,
    differences: [],
    runs: [run],
    skipped: 0,
    hidden: 0,
    gone: [],
    leftOut: 0,
  },
  candidate: { ...side, spec: "self", revision: "ffff0000ffff", dirty: true, formatVersion: null },
  ...{ first: { run: run.run, n: 41 }, operations: 42, unread: false, error: null },
};
const text = (of: CompareResult): string =>
  compareText(of, { palette: PLAIN, verbose: false, trace: "sha256 abc" });

test("operation, both answers, what differs and what still agrees stand in the text", () => {
  const report = text(result);
  for (const part of [
    ...[
      "operation 41",
      "tokens.decode",
      "kind: result",
      "full 12",
      "full 15",
      "- ok.pages.r1.full 12",
    ],
    ...[
      "+ ok.pages.r1.full 15",
      "all 41 operations before it",
      "3 refusals",
      "virtual and step",
      "rows and chain",
    ],
    ...[
      "0000000000000000",
      "ffffffffffffffff",
      "row.alloc",
      "unified-trace compare …",
      "with local changes",
    ],
    ...["1a2b3c4d5e6f", "sha256 abc", "not compared: producer"],
  ]) {
    expect(report).toContain(part);
  }
  expect(report.split("\n").at(-1)).toMatch(/^divergent .*1 run and 42 operations compared$/);
});

test("every verdict has one summary line with the numbers", () => {
  for (const verdict of ["equal", "incomplete", "invalid"] as const) {
    const plain: RunComparison = { ...run, verdict, divergence: null, agreed: 200 };
    const last = text({ ...result, verdict, runs: [plain], first: null, operations: 200 })
      .split("\n")
      .at(-1);
    expect(last).toMatch(new RegExp(`^${verdict}: .*1 run and 200 operations compared`));
  }
});

test("many runs are not listed one by one when they are equal", () => {
  const equal = Array.from({ length: 300 }, (_, i): RunComparison => ({
    ...run,
    run: `run-${i}`,
    verdict: "equal",
    divergence: null,
  }));
  const report = text({ ...result, runs: [...equal, run] });
  expect(report).toContain("300 runs equal");
  expect(report).not.toContain("run-17");
  expect(report.split("\n").length).toBeLessThan(50);
});

test("the JSON form has the documented keys; an absent side is null and named", () => {
  const document = JSON.parse(JSON.stringify(compareJson([result], "sha256 abc")));
  expect(Object.keys(document)).toEqual(
    expect.arrayContaining([
      "command",
      "verdict",
      "mode",
      "base",
      "candidates",
      "runs",
      "first",
      "operations",
      "hidden",
    ]),
  );
  const found = document.runs[0].divergence;
  expect(found).toMatchObject({
    n: 41,
    op: "tokens.decode",
    kind: "result",
    component: "full",
    cause: { n: 41 },
  });
  expect(found.fields).toEqual([
    { path: "/ok/pages/r1/full", base: [[12, 1]], candidate: [[15, 1]] },
  ]);
  const missing = {
    ...divergence,
    fields: [{ path: "/ok/step", base: undefined, candidate: "no_move" }],
  };
  const other = JSON.parse(
    JSON.stringify(compareJson([{ ...result, runs: [{ ...run, divergence: missing }] }], null)),
  );
  expect(other.runs[0].divergence.fields[0]).toEqual({
    ...{ path: "/ok/step", base: null, candidate: "no_move", absent: "base" },
  });
});
