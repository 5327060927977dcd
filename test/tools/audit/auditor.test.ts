// Examples of single rules, and the audit of files.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../../src/base/operations.js";
import { auditTrace } from "../../../src/tools/audit/audit.js";
import { RunAuditor } from "../../../src/tools/audit/auditor.js";
import { AUDIT_RULES } from "../../../src/tools/audit/rules.js";

// Two bands of 8-byte pages in 64 bytes, sink 8: pages 1 to 7 of each, the window from below, full from above.
const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 64,
  sub_pools: [
    { name: "window_2", kind: "mha", window: 2, unit_bytes: 8 },
    { name: "full", kind: "mha", unit_bytes: 8 },
  ],
  rows: 2,
  row_tokens: 16,
  overlap: true,
};
const GRID = { unit_bytes: 8, page_bytes: 8, pages: 8, first_page: 1 };
const BOOT: BootOk = {
  bands: { window_2: { grow: "up", ...GRID }, full: { grow: "down", ...GRID } },
  sink_bytes: 8,
};

type Step = readonly [op: string, args: object, answer: Answer];
const opened: Step = ["row.alloc", { reqs: ["r1"] }, { ok: { rows: { r1: 1 } } }];
const extended: Step = [
  "tokens.extend",
  { batch: [{ req: "r1", from: 0, to: 2 }] },
  {
    ok: {
      pages: { r1: { virtual: [[1, 2]], window_2: [[1, 2]], full: [[6, 2]] } },
      step: "no_move",
    },
    fx: [
      ["zero", "window_2", [[1, 2]]],
      ["zero", "full", [[6, 2]]],
    ],
  },
];
const finished: Step = [
  "request.finish",
  { req: "r1", len: 2, insert: false },
  { ok: { freed: { virtual: [[1, 2]], window_2: [[1, 2]], full: [[6, 2]] } } },
];
const launched: readonly Step[] = [
  [
    "forward.launch",
    { step: "f1", batch: [{ req: "r1", from: 0, to: 2 }], mode: "extend" },
    {
      ok: { resets: [[1, 1]] },
      fx: [
        ["reset", [[1, 1]]],
        ["forward", "f1"],
      ],
    },
  ],
  ["forward.record", { step: "f1", writes: "known" }, { ok: {}, fx: [["event", "f1"]] }],
];

/** Rules broken by operation (boot is 0), the end's behind the last. */
function broken(steps: readonly Step[]): readonly (readonly string[])[] {
  const auditor = new RunAuditor(CONFIG, BOOT);
  const rules = steps.map(([op, args, answer], at) =>
    auditor
      .line(at + 1, { op, args } as KvOperation, answer)
      .map(({ signature }) => signature.check),
  );
  return [...rules, auditor.end().map(({ signature }) => signature.check)];
}

describe("single rules", () => {
  test("a healthy run breaks none", () => {
    expect(broken([opened, extended, finished])).toEqual([[], [], [], []]);
  });

  test("two bands in the same bytes", () => {
    const [op, args] = extended;
    const answer: Answer = {
      ok: {
        pages: { r1: { virtual: [[1, 2]], window_2: [[5, 2]], full: [[6, 2]] } },
        step: "no_move",
      },
      fx: [
        ["zero", "window_2", [[5, 2]]],
        ["zero", "full", [[6, 2]]],
      ],
    };
    // Page 6 of either band is bytes 48 to 55.
    expect(broken([opened, [op, args, answer]])[1]).toEqual(["bytes.disjoint"]);
  });

  test("pages freed under a forward are used again without a wait", () => {
    const again = (fx: Answer["fx"]): Step => [
      "tokens.extend",
      { batch: [{ req: "r2", from: 0, to: 1 }] },
      {
        ok: {
          pages: { r2: { virtual: [[3, 1]], window_2: [[1, 1]], full: [[6, 1]] } },
          step: "no_move",
        },
        fx: [...(fx ?? []), ["zero", "window_2", [[1, 1]]], ["zero", "full", [[6, 1]]]],
      },
    ];
    const second: Step = ["row.alloc", { reqs: ["r2"] }, { ok: { rows: { r2: 2 } } }];
    const before = [opened, extended, ...launched, finished, second];
    expect(broken([...before, again([["wait", "f1"]])])[6]).toEqual([]);
    // Both pages pend under f1, which wrote them as well.
    expect(new Set(broken([...before, again([])])[6])).toEqual(
      new Set(["wait.forward", "wait.pending"]),
    );
  });

  test("what is not given back has leaked, and is named with the operation that took it", () => {
    const [op, args] = finished;
    const less: Step = [
      op,
      args,
      { ok: { freed: { virtual: [[1, 2]], window_2: [[1, 2]], full: [[6, 1]] } } },
    ];
    expect(broken([opened, extended, less])).toEqual([[], [], ["free.missing"], ["leak"]]);
    const auditor = new RunAuditor(CONFIG, BOOT);
    for (const [at, [name, given, answer]] of [opened, extended, less].entries())
      auditor.line(at + 1, { op: name, args: given } as KvOperation, answer);
    expect(auditor.end()[0]?.message).toMatch(/full page 7 .* taken by operation 2$/);
  });

  test("a boot whose grid does not follow from the configuration", () => {
    const bands = { ...BOOT.bands, full: { ...BOOT.bands["full"]!, pages: 9 } };
    const auditor = new RunAuditor(CONFIG, { ...BOOT, bands });
    const found = auditor.line(0, { op: "boot", args: {} }, { ok: { ...BOOT, bands } });
    expect(found.map(({ signature }) => signature)).toEqual([
      { check: "boot.geometry", op: "boot", component: "full" },
    ]);
  });
});

describe("files", () => {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-audit-"));
  const header = {
    kind: "trace",
    format: "unified-trace",
    version: 1,
    producer: { name: "test", version: "1", revision: null, dirty: null },
    created: null,
    note: null,
  };
  const file = (name: string, lines: readonly object[]): string => {
    const path = join(folder, name);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return path;
  };
  const run = (name: string, more: object = {}): object => ({
    kind: "run",
    run: name,
    domain: "kv",
    config: CONFIG,
    source: { type: "scenario", name },
    digest_depth: null,
    ...more,
  });
  const operations = (steps: readonly Step[]): object[] => [
    { kind: "op", n: 0, op: "boot", args: {}, ok: BOOT },
    ...steps.map(([op, args, answer], at) => ({ kind: "op", n: at + 1, op, args, ...answer })),
  ];
  const end = (name: string, ops: number): object => ({ kind: "end", run: name, ops });

  test("a finding has its line, and what was not checked is said", async () => {
    const [op, args, answer] = extended;
    const steps: Step[] = [
      opened,
      [op, args, { ...answer, fx: [["zero", "full", [[6, 2]]]] }],
      finished,
    ];
    const lines = [header, run("a"), ...operations(steps), end("a", 4)];
    const result = await auditTrace({ trace: file("zero.jsonl", lines) });
    expect(result.findings.map(({ line, n, signature }) => [line, n, signature.check])).toEqual([
      [5, 2, "zero.missing"],
      [5, 2, "zero.missing"],
    ]);
    expect(result.unchecked.map(({ rules }) => rules)).toEqual([
      "refusal.digest, question.digest, end.digest",
    ]);
    expect(result).toMatchObject({ runs: 1, operations: 4, broken: 1, isPartial: false });
  });

  test("a cut run: what is live where it stops is no leak", async () => {
    const trace = file("cut.jsonl", [header, run("a"), ...operations([opened, extended])]);
    const result = await auditTrace({ trace, reader: { acceptTruncated: true } });
    expect(result).toMatchObject({ findings: [], operations: 3, isPartial: true });
  });

  test("a run without any effect is too thin, and not broken", async () => {
    const [op, args, answer] = extended;
    const { ok } = answer;
    const steps: Step[] = [opened, [op, args, ok === undefined ? {} : { ok }], finished];
    const lines = [header, run("a"), ...operations(steps), end("a", 4)];
    const result = await auditTrace({ trace: file("thin.jsonl", lines) });
    expect(result).toMatchObject({ findings: [], isPartial: true });
    expect(result.unchecked[0]?.why).toBe("the run has no effects");
  });

  test("a run of another domain is skipped by name", async () => {
    const heap = run("h", { domain: "heap" });
    const alloc = { kind: "op", n: 0, op: "heap.alloc", args: { id: "a", size_bytes: 8 }, ok: {} };
    const trace = file("heap.jsonl", [header, heap, alloc, end("h", 1)]);
    const result = await auditTrace({ trace });
    expect(result.skipped.map(({ run: name }) => name)).toEqual(["h"]);
    expect(result.isPartial).toBe(true);
  });
});

test("docs/audit.md has every rule, as the source says it", () => {
  const page = readFileSync(new URL("../../../docs/audit.md", import.meta.url), "utf8");
  const rows = new Set(page.split("\n").map((line) => line.replace(/ +/g, " ")));
  const missing = Object.entries(AUDIT_RULES).filter(
    ([name, { says, from }]) => !rows.has(`| \`${name}\` | ${says} | ${from} |`),
  );
  expect(missing.map(([name]) => name)).toEqual([]);
  const named = page.match(/^\| `[a-z_.]+` {0,}\|/gm) ?? [];
  expect(named.length).toBe(Object.keys(AUDIT_RULES).length);
});
