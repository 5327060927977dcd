// A recording is a function of its inputs, holds what was answered, and leaves nothing half written.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import type { Answer, Operation } from "../../src/base/operations.js";
import { PLAIN } from "../../src/report/palette.js";
import { recordText } from "../../src/report/record-text.js";
import { record } from "../../src/tools/record.js";
import type { RecordOptions } from "../../src/tools/record.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { validateTrace } from "../../src/trace/validate.js";
import type { Workload } from "../../src/workload/workload.js";
import {
  at,
  FaultyAdapter,
  folder,
  freshPath,
  readLines,
  recorded,
  right,
  seeds,
} from "./faulty-adapter.js";

function recordWith(
  options: Partial<RecordOptions> & Pick<RecordOptions, "writer">,
): ReturnType<typeof record> {
  return record({
    workloads: seeds(0, 2),
    start: async () => new InProcessAdapter({ device: "none" }),
    digestDepth: "layout",
    ...options,
  });
}

test("the same inputs give the same bytes (law 8)", async () => {
  const [first, second] = [await recorded(seeds(3, 6)), await recorded(seeds(3, 6))];
  expect(readFileSync(second, "utf8")).toBe(readFileSync(first, "utf8"));
});

test("a recording is valid and counts what it holds", async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const result = await recordWith({ writer, stateEvery: 50 });
  writer.commit();
  const lines = readLines(path);
  const of = (kind: string): number => lines.filter((line) => line["kind"] === kind).length;
  expect(await validateTrace(path)).toMatchObject({ runs: 2, operations: result.operations });
  expect(of("op")).toBe(result.operations);
  expect(of("state")).toBe(result.states);
  expect(result.states).toBe(2 * Math.floor(result.operations / 2 / 50));
  const refusals = lines.filter(({ err }) => err !== undefined).length;
  expect(result.refusals).toBe(refusals);
  expect(lines.filter(({ kind }) => kind === "state").every(({ n }) => (n + 1) % 50 === 0)).toBe(
    true,
  );
});

test("a run that is refused at boot is recorded, and its one operation counts", async () => {
  const [inner] = seeds(0, 1);
  const steps = [{ operation: { op: "boot", args: {} } as Operation }];
  const { run, config, source } = inner!; // one seed, one workload
  const workload: Workload = { run, config, source, next: () => steps.shift() ?? null };
  const path = freshPath();
  const writer = createTraceWriter(path);
  const refused = { err: { code: "refused_plan", rule: "no_full_owner" } } as Answer;
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(at(0, () => refused));
  const result = await recordWith({ writer, workloads: [workload], start });
  writer.commit();
  expect(result).toMatchObject({ runs: 1, operations: 1, refusals: 1 });
  expect(await validateTrace(path)).toMatchObject({ runs: 1, operations: 1 });
});

test("marks stand where the workload put them, and count as no operation", async () => {
  const [inner] = seeds(0, 1);
  let yielded = 0;
  let held: unknown = null;
  const marked: Workload = {
    run: inner!.run,
    config: inner!.config,
    source: inner!.source,
    next(answer) {
      yielded += 1;
      if (yielded === 4) {
        held = answer;
        return { mark: "second turn" };
      }
      const given = answer ?? (held as typeof answer);
      held = null;
      return inner!.next(given);
    },
  };
  const lines = readLines(await recorded([marked]));
  const mark = lines.findIndex(({ kind }) => kind === "mark");
  expect(lines[mark]).toEqual({ kind: "mark", n: 3, text: "second turn" });
  expect(lines[mark + 1]).toMatchObject({ kind: "op", n: 3 });
});

test("intent first: what never returned stands there as a call without an op", async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const broken = new FaultyAdapter(at(7, () => ({ kind: "crash", message: "planted" })));
  const result = await recordWith({ writer, start: async () => broken, intentFirst: true });
  writer.commit();
  expect(result.failure).toMatchObject({ n: 7, failure: { kind: "crash" } });
  const lines = readLines(path);
  expect(lines.at(-1)).toMatchObject({ kind: "call", n: 7 });
  expect(lines.filter(({ kind }) => kind === "op").length).toBe(7);
});

test("an interrupt between operations leaves the earlier file and nothing beside it", async () => {
  const path = freshPath();
  writeFileSync(path, "what was there\n");
  const before = readdirSync(folder).length;
  const abort = new AbortController();
  const writer = createTraceWriter(path);
  const options = {
    writer,
    workloads: seeds(0, 400),
    signal: abort.signal,
    onProgress: () => abort.abort(),
  };
  await expect(recordWith(options)).rejects.toThrow(/abort/i);
  writer.abort();
  expect(readFileSync(path, "utf8")).toBe("what was there\n");
  expect(readdirSync(folder).length).toBe(before);
});

test("nothing to record is refused, and an implementation that cannot start leaves no file", async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  await expect(recordWith({ writer, workloads: [] })).rejects.toThrow(/nothing was selected/);
  const cannot = async (): Promise<never> => {
    throw new Error("cannot start");
  };
  await expect(recordWith({ writer, start: cannot })).rejects.toThrow("cannot start");
  writer.abort();
  expect(existsSync(path)).toBe(false);
});

test("digests of another depth than the implementation gives are recorded at its depth", async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const shallow = new FaultyAdapter(right, null, { digest: "light" });
  await recordWith({ writer, start: async () => shallow, digestDepth: "layout" });
  writer.commit();
  expect(shallow.openings.map(({ digestDepth }) => digestDepth)).toEqual(["light", "light"]);
  expect(readLines(path)[1]).toMatchObject({ kind: "run", digest_depth: "light" });
});

test("a recording never holds what a reader refuses: digests are whole, or the recording fails", async () => {
  const lacking = at(0, ({ digest, ...answer }) => {
    const { rows: _rows, ...rest } = digest ?? {};
    return { ...answer, digest: rest };
  });
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(lacking);
  const first = await recordWith({ writer: createTraceWriter(freshPath()), start });
  expect(first).toMatchObject({ operations: 0, failure: { n: 0, place: "at" } });
  expect(first.failure?.failure).toMatchObject({ kind: "protocol" });
  expect(first.failure?.failure.message).toContain("no digest of rows");

  const endless = new FaultyAdapter(right);
  endless.close = async () => ({ digest: null, failure: null });
  const last = await recordWith({
    writer: createTraceWriter(freshPath()),
    start: async () => endless,
  });
  expect(last.failure).toMatchObject({ n: last.operations - 1, place: "after" });
  expect(last.failure?.failure.kind).toBe("protocol");
});

test("an answer of foreign code that the format does not know fails the recording there", async () => {
  const wrong: readonly (readonly [string, (answer: Answer) => Answer])[] = [
    ["/ok/more", ({ ok }) => ({ ok: { ...ok, more: 1 } as unknown as Answer["ok"] & object })],
    ["/err/code", () => ({ err: { code: "refused_backing" } })],
    ["/fx/0/1", (answer) => ({ ...answer, fx: [["zero", "fulll", [[1, 1]]]] })],
  ];
  for (const [place, make] of wrong) {
    const path = freshPath();
    const writer = createTraceWriter(path);
    const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(at(5, make));
    const result = await recordWith({ writer, start, checksAnswers: true });
    expect(result).toMatchObject({ operations: 5, failure: { n: 5, place: "at" } });
    expect(result.failure?.failure).toMatchObject({
      kind: "protocol",
      message: expect.stringContaining(`the answer at ${place}: `),
    });
    const read = await validateTrace(writer.commitPartial()!, { acceptTruncated: true });
    expect(read.operations).toBe(5);
  }
});

test("digests that were not asked for are not recorded", async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  // says that it has none, and gives some all the same
  const stray = { full: "0".repeat(16) };
  const talkative = new FaultyAdapter((_n, _op, answer) => ({ ...answer, digest: stray }), null, {
    digest: null,
  });
  const close = talkative.close.bind(talkative);
  talkative.close = async () => ({ ...(await close()), digest: "0".repeat(16) });
  await recordWith({ writer, start: async () => talkative });
  writer.commit();
  expect(readLines(path).some(({ digest }) => digest !== undefined)).toBe(false);
  expect(await validateTrace(path)).toMatchObject({ runs: 2 });
});

test("the first line names the implementation that answered, never who recorded it", async () => {
  const said = { name: "other", version: "7.1", revision: "abc1234", dirty: true };
  for (const [info, producer] of [
    [said, said],
    [
      { ...said, revision: null, dirty: false },
      { ...said, revision: null, dirty: null },
    ],
  ] as const) {
    const other = new FaultyAdapter(right, null, info);
    expect(readLines(await recorded(seeds(0, 1), other))[0]).toMatchObject({ producer });
  }
});

test("a failure leaves the earlier file and puts what was recorded beside it", async () => {
  for (const name of ["trace.jsonl", "trace.jsonl.gz"]) {
    const path = freshPath(name);
    writeFileSync(path, "what was there\n");
    const writer = createTraceWriter(path);
    const broken = new FaultyAdapter(at(7, () => ({ kind: "crash", message: "planted" })));
    const result = await recordWith({ writer, start: async () => broken });
    expect(result).toMatchObject({ operations: 7, failure: { n: 7, place: "at" } });
    const partial = writer.commitPartial();
    expect(partial).toBe(`${path}.partial`);
    expect(readFileSync(path, "utf8")).toBe("what was there\n");
    const read = await validateTrace(partial!, { acceptTruncated: true });
    expect(read).toMatchObject({ operations: 7 });
    const told = recordText(result, path, partial, writer.bytes, PLAIN);
    expect(told).toContain(`${path} was not written`);
    expect(told).toContain(partial);
  }
});

test("a failure at the first operation, and one after the last, are told as what they are", async () => {
  const first = new FaultyAdapter(at(0, () => ({ kind: "crash", message: "planted" })));
  const at0 = await recordWith({
    writer: createTraceWriter(freshPath()),
    start: async () => first,
  });
  expect(at0.failure).toMatchObject({ n: 0, place: "at" });
  const last = new FaultyAdapter(right);
  last.close = async () => ({ digest: null, failure: { kind: "crash", message: "planted" } });
  const after = await recordWith({
    writer: createTraceWriter(freshPath()),
    start: async () => last,
  });
  expect(after.failure).toMatchObject({ n: after.operations - 1, place: "after" });
});
