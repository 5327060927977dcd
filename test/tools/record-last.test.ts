// A recording of the last operations: exactly those, behind the state before them, and it goes on from there as the
// whole recording does.
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import { record } from "../../src/tools/record.js";
import type { RecordOptions } from "../../src/tools/record.js";
import type { RecordResult } from "../../src/tools/outcome.js";
import { replayTrace } from "../../src/tools/replay.js";
import { validateTrace } from "../../src/trace/validate.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { converted, mixedSeeds } from "./convert/inputs.js";
import { at, FaultyAdapter, freshPath, readLines, right } from "./faulty-adapter.js";
import type { Line } from "./faulty-adapter.js";

const self = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

async function recordedLast(
  options: Pick<RecordOptions, "workloads"> & Partial<RecordOptions>,
): Promise<{ path: string; result: RecordResult }> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const result = await record({ start: self, writer, digestDepth: "layout", ...options });
  if (result.failure === null) writer.commit();
  else writer.commitPartial();
  return { path: existsSync(path) ? path : `${path}.partial`, result };
}

function runsOf(path: string): Line[][] {
  const runs: Line[][] = [];
  for (const line of readLines(path)) {
    if (line.kind === "run") runs.push([]);
    if (line.kind !== "trace") runs.at(-1)!.push(line);
  }
  return runs;
}

const withoutDigest = ({ digest: _, ...line }: Line): Line => line;

describe("the last operations of each run, over seeds", () => {
  // a state is kept now and then: behind none, one and several of them
  test.each([
    [12, 300, 40],
    [3, 1500, 200],
    [3, 2500, 1100],
    [3, 2048, 1024],
    [3, 1025, 1],
  ])("%i seeds, %i operations, the last %i", async (count, ops, last) => {
    const workloads = (): Iterable<
      RecordOptions["workloads"] extends Iterable<infer W> ? W : never
    > => mixedSeeds(0, count, ops);
    const whole = await recordedLast({ workloads: workloads(), stateEvery: ops - last });
    const { path, result } = await recordedLast({ workloads: workloads(), last });
    expect(result).toMatchObject({ operations: whole.result.operations });
    await validateTrace(path);
    const wholeRuns = runsOf(whole.path);
    for (const [index, run] of runsOf(path).entries()) {
      const all = wholeRuns[index]!;
      const operations = all.filter(({ kind }) => kind === "op");
      const kept = operations.slice(-last);
      const [opening, ...lines] = run;
      if (operations.length <= last) {
        expect(run).toEqual(all.filter(({ kind }) => kind !== "state"));
        continue;
      }
      const first = operations.length - last;
      expect(opening).toEqual({ ...all[0], starts_at: first, dropped: first });
      const state = all.find(({ kind, n }) => kind === "state" && n === first - 1);
      if (state !== undefined) expect(lines[0]).toEqual(state);
      expect(lines[0]).toMatchObject({ kind: "state", n: first - 1 });
      const mine = lines.filter(({ kind }) => kind === "op");
      expect(mine.map(withoutDigest)).toEqual(kept.map(withoutDigest));
      expect(mine.slice(1)).toEqual(kept.slice(1));
      // what the first digest lists stands as the whole recording told it
      const told: Record<string, string> = {};
      for (const { digest } of operations.slice(0, first + 1)) Object.assign(told, digest);
      expect(mine[0].digest).toEqual(told);
      expect(lines.at(-1)).toEqual({ ...all.at(-1), ops: last });
    }
    const compared = await compareTrace({ trace: path, start: self, candidate: "self" });
    expect([compared.verdict, compared.first]).toEqual(["equal", null]);
    const replayed = await replayTrace({ trace: path, start: self });
    expect(replayed).toMatchObject({ violations: [], isPartial: false, error: null });
    expect(replayed.operations).toBe(result.kept);
  });
});

test("an implementation that breaks: what came last before it, behind a state", async () => {
  const mistake = at(250, () => ({ kind: "invariant", message: "planted" }));
  let starts = 0;
  // another start, which gives the state, does not break: it is asked less
  const start = async (): Promise<Adapter> => {
    starts += 1;
    return new FaultyAdapter(starts === 1 ? mistake : right);
  };
  const { path, result } = await recordedLast({
    workloads: mixedSeeds(0, 1, 300),
    last: 20,
    start,
  });
  expect(result).toMatchObject({ kept: 20, failure: { n: 250 } });
  const lines = readLines(path).slice(1);
  expect(lines[0]).toMatchObject({ starts_at: 230, dropped: 230 });
  expect(lines.filter(({ kind }) => kind === "op").map(({ n }) => n)).toEqual(
    Array.from({ length: 20 }, (_, index) => 230 + index),
  );
  // recovered, it is a legal trace that replays equal to its last digest
  const whole = await converted([path], "jsonl", { recover: true });
  const compared = await compareTrace({ trace: whole.path, start: self, candidate: "self" });
  expect([compared.verdict, whole.result.operations]).toEqual(["equal", 20]);
});

test("without a state nothing could be replayed: refused; without a start from one more is kept", async () => {
  class Stateless extends FaultyAdapter {
    override async state(): Promise<null> {
      return null;
    }
  }
  const stateless = async (): Promise<Adapter> => new Stateless(right);
  const workloads = mixedSeeds(0, 1, 1200);
  await expect(recordedLast({ workloads, last: 20, start: stateless })).rejects.toThrow(/--last/);
  const fixed = async (): Promise<Adapter> => new FaultyAdapter(right, null, { fromState: false });
  const more = await recordedLast({ workloads: mixedSeeds(0, 1, 1200), last: 20, start: fixed });
  expect(more.result.kept).toBe(1200 - 1024);
});
