// Edits of traces: whatever is taken away or changed, the result is legal, and says what an implementation answers.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { HeapAdapter } from "../../../src/adapter/heap-adapter.js";
import { parseHeapSpec } from "../../../src/adapter/heap-spec.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { CandidateError, UsageError } from "../../../src/base/errors.js";
import { Prng } from "../../../src/base/prng.js";
import { auditTrace } from "../../../src/tools/audit/audit.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import { editTrace } from "../../../src/tools/edit/edit.js";
import type { EditOptions, EditResult } from "../../../src/tools/edit/edit.js";
import { parseFilter } from "../../../src/tools/edit/filters.js";
import { parseSubstitution } from "../../../src/tools/edit/substitutions.js";
import { validateTrace } from "../../../src/trace/validate.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { heapTrace, mixedSeeds, withStates } from "../convert/inputs.js";
import {
  at,
  FaultyAdapter,
  freshPath,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "../faulty-adapter.js";
import type { Line } from "../faulty-adapter.js";

const self = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

async function edited(
  traces: readonly string[],
  options: Partial<EditOptions>,
): Promise<{ path: string; result: EditResult }> {
  const path = freshPath("edited.jsonl");
  const writer = createTraceWriter(path);
  const result = await editTrace({ traces, writer, start: self, ...options });
  if (result.broken === null) writer.commit();
  else writer.abort();
  return { path, result };
}

/** Valid, clean, and what this checkout answers, down to the last digest. */
async function expectLegal(path: string, result?: EditResult): Promise<void> {
  expect(result?.broken ?? null).toBeNull();
  await validateTrace(path);
  const audit = await auditTrace({ trace: path });
  expect(audit.findings).toEqual([]);
  const start = async (): Promise<Adapter> => new InProcessAdapter({ device: "model" });
  const compared = await compareTrace({ trace: path, start, candidate: "self" });
  expect([compared.verdict, compared.first]).toEqual(["equal", null]);
}

const operations = (path: string): Line[] => readLines(path).filter(({ kind }) => kind === "op");
const asked = (path: string): unknown[] => operations(path).map(({ op, args }) => [op, args]);

describe("any edit gives a legal trace, over seeds", () => {
  const random = new Prng(11);
  const draw = <T>(list: readonly T[]): T => list[random.below(list.length)]!;
  const KINDS = [
    "tokens.*",
    "request.*",
    "forward.*",
    "host.*",
    "net.*",
    "tree.*",
    "state.*",
  ].concat([
    "row.alloc",
    "group.begin",
    "group.end",
    "window.retire",
    "chain.*",
    "ask.*",
    "row.free",
  ]);
  const VALUES = ["config:rows=3", "config:arena_bytes=6k", "config:row_tokens=64"].concat([
    "config:overlap=false",
    "config:move_cap=1",
    "config:overlap=true",
    "config:arena_bytes=64k",
  ]);

  test("cuts", async () => {
    const trace = await recorded(mixedSeeds(0, 15, 160));
    let stayed = 0;
    let groundless = 0;
    for (let round = 0; round < 12; round++) {
      const from = random.below(150);
      const to = from + 1 + random.below(160 - from);
      const { path, result } = await edited([trace], { cut: { from, to } });
      await expectLegal(path, result);
      expect(result.answered).toBeGreaterThan(0);
      expect(result.operations).toBe(15 * 160 - result.dropped - result.groundless);
      expect(result.dropped).toBeGreaterThan(0);
      stayed += result.stayed;
      groundless += result.groundless;
    }
    // both happen, and what the edit breaks is the small part
    expect(stayed).toBeGreaterThan(0);
    expect(groundless).toBeLessThan(0.2 * 12 * 15 * 160);
  });

  test("kinds of operation", async () => {
    const trace = await recorded(mixedSeeds(0, 15, 160));
    for (const kind of KINDS) {
      for (const not of ["", "!"]) {
        const { path, result } = await edited([trace], {
          filters: [parseFilter(`op${not}=${kind}`)],
        });
        await expectLegal(path, result);
      }
    }
  });

  test("requests", async () => {
    const trace = await recorded(mixedSeeds(0, 15, 160));
    const names = [
      ...new Set(
        operations(trace).flatMap(({ op, args }) => (op === "row.alloc" ? args.reqs : [])),
      ),
    ].filter((name) => /^r\d+$/.test(String(name))) as string[];
    for (let round = 0; round < 8; round++) {
      const some = [draw(names), draw(names), draw(names)].join();
      const { path, result } = await edited([trace], { filters: [parseFilter(`req=${some}`)] });
      await expectLegal(path, result);
      for (const { args } of operations(path)) {
        for (const entry of (args.batch ?? []) as Line[])
          expect(some.split(",")).toContain(entry.req);
        for (const req of (args.reqs ?? []) as string[]) expect(some.split(",")).toContain(req);
      }
    }
  });

  test("values of the configuration", async () => {
    const trace = await recorded(mixedSeeds(0, 10, 120));
    for (const value of VALUES) {
      const { path, result } = await edited([trace], { substitutions: [parseSubstitution(value)] });
      await expectLegal(path, result);
      const [, key = "", text = ""] = /^config:(\w+)=(.*)$/.exec(value) ?? [];
      expect(result.answered).toBeGreaterThan(0);
      for (const { config } of readLines(path).filter(({ kind }) => kind === "run")) {
        const wanted = text.endsWith("k") ? Number.parseInt(text) * 1024 : JSON.parse(text);
        expect(config[key]).toBe(wanted);
      }
    }
  });

  test("all at once, with states and marks", async () => {
    const trace = await withStates(mixedSeeds(2, 6, 100));
    const { path, result } = await edited([trace], {
      filters: [parseFilter("op!=ask.*,tree.evict"), parseFilter("run!=*seed-3")],
      cut: { from: 20, to: 35 },
      substitutions: [parseSubstitution("forward.record:writes=unknown")],
    });
    await expectLegal(path, result);
    expect(result).toMatchObject({ runs: 3, leftOut: 1, answered: 3, lostStates: 0 });
    const lines = readLines(path);
    // a state stands behind each operation, that of this run
    expect(lines.filter(({ kind }) => kind === "state")).toHaveLength(result.operations);
    expect(lines.some(({ op }) => op?.startsWith("ask.") || op === "tree.evict")).toBe(false);
    const records = lines.filter(({ op }) => op === "forward.record");
    expect(records.length).toBeGreaterThan(0);
    expect(records.every(({ args }) => args.writes === "unknown")).toBe(true);
  });
});

describe("what is left", () => {
  const config = {
    page_size: 4,
    arena_bytes: 4096,
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 8 }],
    rows: 4,
    row_tokens: 64,
    overlap: true,
  };
  const steps: readonly (readonly [string, object])[] = [
    ["boot", {}],
    ["row.alloc", { reqs: ["r1", "r2"] }],
    ["tokens.extend", { batch: [{ req: "r1", from: 0, to: 8 }] }],
    ["forward.launch", { step: "f1", batch: [{ req: "r1", from: 0, to: 8 }], mode: "extend" }],
    ["forward.record", { step: "f1", writes: "known" }],
    ["tokens.extend", { batch: [{ req: "r1", from: 8, to: 20 }] }],
    ["group.begin", {}],
    ["tokens.free", { req: "r1", from: 16, to: 20, bands: "all" }],
    ["group.end", {}],
    ["forward.process", { step: "f1" }],
    ["tokens.decode", { batch: [{ req: "r1", len: 17 }] }],
    ["request.finish", { req: "r2", len: 0, insert: false }],
    ["row.alloc", { reqs: ["r3"] }],
    ["request.finish", { req: "r3", len: 0, insert: false }],
    ["request.finish", { req: "r1", len: 17, insert: false }],
    ["check.idle", {}],
  ];
  async function handmade(): Promise<string> {
    const adapter = new InProcessAdapter({ device: "none" });
    const left = [...steps];
    const source = { type: "scenario", name: "by hand" } as const;
    const next = (): Line => {
      const step = left.shift();
      return step === undefined ? null : { operation: { op: step[0], args: step[1] } };
    };
    return recorded([{ run: "hand", config: config as Line, source, next }], adapter);
  }
  const kindsOf = (path: string): unknown[] => operations(path).map(({ op }) => op);

  test("what ends or carries on something open stays, the rest of the range goes", async () => {
    const { path, result } = await edited([await handmade()], { cut: { from: 4, to: 15 } });
    await expectLegal(path, result);
    expect(asked(path)).toEqual([
      ...steps.slice(0, 5), // the record of the forward that is open
      steps[9], // its end
      steps[11],
      ["request.finish", { req: "r1", len: 8, insert: false }], // of a row that is 8 long now
      steps[15],
    ]);
    expect(result).toMatchObject({ dropped: 7, stayed: 4, changed: 1, groundless: 0 });
  });

  test("what is opened in the range goes with all that uses it; positions move down", async () => {
    const { path, result } = await edited([await handmade()], { cut: { from: 2, to: 4 } });
    await expectLegal(path, result);
    expect(asked(path)).toEqual([
      steps[0],
      steps[1],
      ["tokens.extend", { batch: [{ req: "r1", from: 0, to: 12 }] }],
      steps[6],
      ["tokens.free", { req: "r1", from: 8, to: 12, bands: "all" }],
      steps[8],
      ["tokens.decode", { batch: [{ req: "r1", len: 9 }] }],
      ...steps.slice(11, 14),
      ["request.finish", { req: "r1", len: 9, insert: false }],
      steps[15],
    ]);
  });

  test("boot stays; the end of a pair goes with its opening and stays without it", async () => {
    const trace = await handmade();
    const opening = await edited([trace], { cut: { from: 0, to: 1 } }).catch(() => null);
    expect(opening).not.toBeNull();
    expect(kindsOf(opening!.path)).toEqual(steps.map(([op]) => op));
    expect(opening!.result.answered).toBe(0);
    const begun = await edited([trace], { cut: { from: 6, to: 7 } });
    expect(kindsOf(begun.path)).not.toContain("group.end");
    const ended = await edited([trace], { cut: { from: 8, to: 9 } });
    expect(kindsOf(ended.path)).toContain("group.end");
  });

  test("a value at one operation; the answers are those of what is asked now", async () => {
    const trace = await handmade();
    const { path, result } = await edited([trace], {
      substitutions: [parseSubstitution("2:batch.0.to=16")],
    });
    await expectLegal(path, result);
    const [, , extend] = operations(path);
    expect(extend.args.batch).toEqual([{ req: "r1", from: 0, to: 16 }]);
    expect(
      extend.ok.pages.r1.full.reduce((sum: number, [, n]: number[]) => sum + Math.abs(n!), 0),
    ).toBe(4);
    // the next growth began at 8, which no row is long now: it and what follows from it is gone
    expect(asked(path)).not.toContainEqual(steps[5]);
  });
});

describe("runs keep their lines", () => {
  test("filtered by run, and where nothing in them changes", async () => {
    const trace = await recorded(seeds(0, 4));
    const text = readFileSync(trace, "utf8");
    const lines = text.trimEnd().split("\n");
    const kept = await edited([trace], { filters: [parseFilter("run=full+window/*")] });
    const expected: string[] = [];
    let isKept = true;
    for (const line of lines) {
      const { kind, run } = JSON.parse(line);
      if (kind === "run") isKept = String(run).startsWith("full+window/");
      if (isKept) expected.push(line);
    }
    expect(readFileSync(kept.path, "utf8")).toBe(`${expected.join("\n")}\n`);
    expect(kept.result).toMatchObject({ runs: 2, leftOut: 2, answered: 0 });
    const rows = readLines(trace)[1].config.rows as number;
    const same = await edited([trace], {
      substitutions: [parseSubstitution(`config:rows=${rows}`)],
      filters: [parseFilter("run=*seed-0")],
    });
    expect(same.result.answered).toBe(0);
  });

  test("merged: the runs of all, in order", async () => {
    const [left, right] = [await recorded(seeds(0, 2)), await recorded(seeds(2, 4))];
    const whole = await recorded(seeds(0, 4));
    const { path, result } = await edited([left, right], {});
    expect(readFileSync(path)).toEqual(readFileSync(whole));
    expect(result).toMatchObject({ runs: 4, operations: 480, renamed: 0 });
  });

  test("a run of a name that was there: refused, or renamed", async () => {
    const trace = await recorded(seeds(0, 2));
    await expect(edited([trace, trace], {})).rejects.toThrow(/--rename-runs/);
    const { path, result } = await edited([trace, trace, trace], { renamesRuns: true });
    await expectLegal(path, result);
    expect(result).toMatchObject({ runs: 6, renamed: 4 });
    const names = readLines(path).flatMap(({ kind, run }) => (kind === "run" ? [run] : []));
    const [first, second] = names;
    expect(names).toEqual([
      first,
      second,
      `${first}#2`,
      `${second}#2`,
      `${first}#3`,
      `${second}#3`,
    ]);
  });
});

test("a run that begins with a state goes on from it", async () => {
  const trace = await withStates(mixedSeeds(1, 2, 90));
  const lines = readLines(trace);
  const begin = lines.findIndex(({ kind, n }) => kind === "state" && n === 39);
  const ops = lines.filter(({ kind, n }) => kind === "op" && n > 39);
  const tail = writeLines([
    lines[0],
    { ...lines[1], starts_at: 40, dropped: 40 },
    lines[begin],
    ...ops,
    { ...lines.at(-1), ops: ops.length },
  ]);
  const { path, result } = await edited([tail], { cut: { from: 50, to: 60 } });
  expect(result.answered).toBe(1);
  await validateTrace(path);
  const compared = await compareTrace({ trace: path, start: self, candidate: "self" });
  expect(compared.verdict).toBe("equal");
  const [run, state, first] = readLines(path).slice(1);
  expect([run.starts_at, state.n, first.n]).toEqual([40, 39, 40]);
});

describe("who answers", () => {
  test("another implementation is named where the header names one", async () => {
    const trace = await recorded(seeds(0, 1));
    const other = async (): Promise<Adapter> => new FaultyAdapter(right, null, { name: "other" });
    const { path } = await edited([trace], { cut: { from: 5, to: 9 }, start: other });
    expect(readLines(path)[1].x_answered_by).toMatchObject({ name: "other" });
    const own = await edited([trace], { cut: { from: 5, to: 9 } });
    expect(readLines(own.path)[1]).not.toHaveProperty("x_answered_by");
  });

  test("one that breaks: nothing is written, and the place is told", async () => {
    const trace = await recorded(seeds(0, 2));
    const mistake = at(10, () => ({ kind: "crash", message: "gone" }));
    const start = async (): Promise<Adapter> => new FaultyAdapter(mistake);
    const { result } = await edited([trace], { cut: { from: 50, to: 60 }, start });
    expect(result.broken).toMatchObject({ n: 10, failure: { kind: "crash", message: "gone" } });
  });

  test("a heap: its allocator, or the recorded lives where no answer tells a place", async () => {
    const start = async (): Promise<Adapter> => new HeapAdapter(parseHeapSpec("best-fit"));
    const trace = heapTrace();
    await expect(edited([trace], { cut: { from: 3, to: 4 } })).rejects.toThrow(CandidateError);
    const { path } = await edited([trace], { cut: { from: 3, to: 4 }, start });
    await validateTrace(path);
    expect(asked(path)).not.toContainEqual(["heap.free", { id: "h3" }]);
    const compared = await compareTrace({ trace: path, start, candidate: "heap:best-fit" });
    expect(compared.verdict).toBe("equal");
    const log = writeLines(
      readLines(trace).map((line) => (line.ok === undefined ? line : { ...line, ok: {} })),
    );
    const lives = await edited([log], { filters: [parseFilter("op!=pool.make")] });
    expect(operations(lives.path).map(({ kind: _, n: __, ...line }) => line)).toEqual(
      operations(log)
        .slice(1)
        .map(({ kind: _, n: __, ...line }) => line),
    );
  });
});

describe("refused", () => {
  test.each([
    ["run=nobody", /nothing in the trace is nobody/],
    ["req=r1,r999", /nothing in the trace is r999/],
  ])("--filter %s", async (text, message) => {
    const trace = await recorded(seeds(0, 1));
    await expect(edited([trace], { filters: [parseFilter(text)] })).rejects.toThrow(message);
  });

  test.each([
    ["config:page_size=0", /page_size/],
    ["config:arena=4096", /arena/],
    ["config:sub_pools.0.name=other", /bands cannot/],
    ["tokens.extend:batch.0.to=x", /\/args\/batch\/0\/to/],
    ["tokens.extend:batch.99.to=4", /no.*such a place/],
    ["9999:req=r1", /no.*such a place/],
  ])("--substitute %s", async (text, message) => {
    const trace = await recorded(seeds(0, 2));
    const substitutions = [parseSubstitution(text)];
    await expect(edited([trace], { substitutions })).rejects.toThrow(UsageError);
    await expect(edited([trace], { substitutions })).rejects.toThrow(message);
  });

  test.each(["", "x", "run", "run=", "run=a,,b", "ops=boot", "op=tokens.grow", "=a"])(
    "the words of a filter: %s",
    (text) => {
      expect(() => parseFilter(text)).toThrow(UsageError);
    },
  );
  test.each(["", "config", "config:rows", "config:=8", "nothing:a=1", "config:a..b=1"])(
    "the words of a substitution: %s",
    (text) => {
      expect(() => parseSubstitution(text)).toThrow(UsageError);
    },
  );
  test("values: JSON, sizes, texts", () => {
    const values = ["8", "2m", "null", '{"a":[1]}', "known", '"7"'].map(
      (text) => parseSubstitution(`config:x=${text}`).value,
    );
    expect(values).toEqual([8, 2 ** 21, null, { a: [1] }, "known", "7"]);
  });
  test("a cut behind the end", async () => {
    const trace = await recorded(seeds(0, 1));
    await expect(edited([trace], { cut: { from: 120, to: 130 } })).rejects.toThrow(/--cut/);
  });
});
