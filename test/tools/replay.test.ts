// Replay finds broken promises at their operation and leaves answers alone.
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { UsageError } from "../../src/base/errors.js";
import { replayTrace } from "../../src/tools/replay.js";
import type { ReplayOptions } from "../../src/tools/replay.js";
import type { ReplayResult } from "../../src/tools/outcome.js";
import {
  at,
  FaultyAdapter,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "./faulty-adapter.js";
import type { Line, Mistake } from "./faulty-adapter.js";

const trace = await recorded(seeds(0, 3));
const lines = readLines(trace);
const operations = lines.filter(({ kind }) => kind === "op");

function replay(mistake: Mistake, options: Partial<ReplayOptions> = {}): Promise<ReplayResult> {
  const start = async (): Promise<FaultyAdapter> =>
    new FaultyAdapter(mistake, "full+window/p16/seed-0");
  return replayTrace({ trace, start, ...options });
}

const firstWhere = (test: (line: Line) => boolean): number => operations.find(test)!["n"] as number;

test("a sound implementation passes, with the device checking every page", async () => {
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ verify: "every" });
  const result = await replayTrace({ trace, start });
  expect(result).toMatchObject({
    runs: 3,
    operations: operations.length,
    violations: [],
    isPartial: false,
  });
});

test("other answers are no violation", async () => {
  const n = firstWhere(({ ok }) => ok?.step !== undefined);
  const other: Mistake = at(n, (answer) => ({
    ...answer,
    ok: { ...answer.ok, step: "relayout" } as never,
  }));
  expect((await replay(other)).violations).toEqual([]);
});

test("a refusal or a question that changes the state is a violation where it happened (law 1)", async () => {
  const changed = { full: "f".repeat(16) };
  for (const n of [
    firstWhere(({ err }) => err !== undefined),
    firstWhere(({ op }) => op.startsWith("ask.")),
  ]) {
    const result = await replay(at(n, (answer) => ({ ...answer, digest: changed })));
    expect(result.violations).toMatchObject([{ n, failure: { kind: "invariant" } }]);
    expect(result.runs).toBe(3);
    const asksDevice = await replay(at(n, (answer) => ({ ...answer, fx: [["wait", "f1"]] })));
    expect(asksDevice.violations).toMatchObject([{ n }]);
  }
});

test("a crash is one, and the other runs go on", async () => {
  const result = await replay(at(20, () => ({ kind: "crash", message: "planted" })));
  expect(result.violations).toMatchObject([{ n: 20, failure: { kind: "crash" } }]);
  expect(result.runs).toBe(3);
  expect(result.operations).toBe(21 + operations.length - operations.length / 3);
});

test("--to stops each run, --run takes one", async () => {
  expect((await replay(right, { to: 9 })).operations).toBe(30);
  const one = await replay(right, { run: "full+state/p16/seed-1" });
  expect([one.runs, one.operations]).toEqual([1, operations.length / 3]);
  await expect(replay(right, { run: "full+state/p16/seed-9" })).rejects.toThrow(UsageError);
});

test("a truncated trace is an error after what was whole, or incomplete on request", async () => {
  const cut = writeLines(lines.slice(0, -2));
  expect((await replay(right, { trace: cut })).error?.code).toBe("trace_truncated");
  const accepted = await replay(right, { trace: cut, reader: { acceptTruncated: true } });
  expect(accepted).toMatchObject({
    error: null,
    isPartial: true,
    operations: operations.length - 1,
  });
});

test("a trace that holds nothing is no success", async () => {
  await expect(replay(right, { trace: writeLines(lines.slice(0, 1)) })).rejects.toThrow(
    /nothing was replayed/,
  );
});
