// Replay again and again, from a recorded state, and against a clock.
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { Latencies } from "../../src/tools/latencies.js";
import { record } from "../../src/tools/record.js";
import { replayTrace } from "../../src/tools/replay.js";
import type { ReplayOptions } from "../../src/tools/replay.js";
import type { ReplayResult } from "../../src/tools/outcome.js";
import { timeSides } from "../../src/tools/time-sides.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { FaultyAdapter, freshPath, recorded, right, seeds } from "./faulty-adapter.js";
import type { Mistake } from "./faulty-adapter.js";

const trace = await recorded(seeds(0, 3));
const run = "full+window/p16/seed-0";

const sound = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });

function replay(mistake: Mistake, options: Partial<ReplayOptions> = {}): Promise<ReplayResult> {
  const adapter = new FaultyAdapter(mistake, run);
  return replayTrace({ trace, start: async () => adapter, ...options });
}

test("a sound implementation answers each pass alike; numbers are those of one pass", async () => {
  const [once, thrice] = [await replay(right), await replay(right, { passes: 3 })];
  expect(thrice).toEqual({ ...once, passes: 3 });
});

/** Right `passes` times, then another answer at operation `n`. */
function later(passes: number, n: number, change: object): Mistake {
  let opened = 0;
  return (index, _operation, answer) => {
    if (index === 0) opened += 1;
    if (index !== n || opened <= passes) return null;
    return { ...answer, ...change };
  };
}

test("another answer in a later pass is a finding of that pass, whatever the message says", async () => {
  const other = await replay(later(1, 40, { fx: [["wait", "f9"]] }), { passes: 4 });
  expect(other.passes).toBe(2);
  expect(other.violations).toMatchObject([{ run, failure: { kind: "invariant" } }]);
  expect(other.violations[0]?.failure.message).toContain("pass 2 gave other answers than pass 1");
});

test("another digest at the end is told with both", async () => {
  let closed = 0;
  class Drifting extends FaultyAdapter {
    override async close(): ReturnType<FaultyAdapter["close"]> {
      const end = await super.close();
      closed += 1;
      return closed > 3 ? { ...end, digest: "0".repeat(16) } : end;
    }
  }
  const adapter = new Drifting(right);
  const start = async (): Promise<Drifting> => adapter;
  const { violations, passes } = await replayTrace({ trace, start, passes: 2 });
  expect(passes).toBe(2);
  expect(violations.length).toBe(3);
  expect(violations[0]?.failure.message).toContain(`pass 2 ended with digest ${"0".repeat(16)}`);
});

async function withStates(every: number): Promise<string> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const options = { start: sound, writer, digestDepth: "layout", stateEvery: every } as const;
  await record({ workloads: seeds(0, 3), ...options });
  writer.commit();
  return path;
}

test("each run goes on behind its first state, or behind the one that is named", async () => {
  const states = await withStates(25);
  const whole = (await replayTrace({ trace: states, start: sound })).operations;
  for (const [fromState, before] of [
    ["first", 25],
    [24, 25],
    [74, 75],
  ] as const) {
    const result = await replayTrace({ trace: states, start: sound, fromState });
    expect(result).toMatchObject({ runs: 3, operations: whole - 3 * before, violations: [] });
  }
  const part = await replayTrace({ trace: states, start: sound, fromState: 24, to: 29 });
  expect(part.operations).toBe(3 * 5);
});

test("a state that is not there is told, and what writes states", async () => {
  const options = { start: sound, fromState: 30 };
  await expect(replayTrace({ trace, ...options })).rejects.toThrow(/no full state behind/);
  await expect(replayTrace({ trace, start: sound, fromState: "first" })).rejects.toThrow(/every=N/);
});

test("every operation is timed once a pass, with the clock that is given", async () => {
  let now = 0;
  const clock = (): number => (now += 1000);
  const into = new Latencies();
  const result = await replay(right, { timing: { clock, into }, passes: 2 });
  const rows = result.latencies!;
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(2 * result.operations);
  for (const row of rows) expect(row).toMatchObject({ median: 1, p99: 1, max: 1 });
});

test("both sides of a comparison are timed in turns, and the ratio is told of every operation", async () => {
  const order: string[] = [];
  const side = (spec: string): { spec: string; start: () => Promise<InProcessAdapter> } => ({
    spec,
    start: async () => {
      order.push(spec);
      return sound();
    },
  });
  let now = 0;
  const clock = (): number => (now += order.at(-1) === "b" ? 2000 : 1000);
  const times = await timeSides({ trace, base: side("a"), candidate: side("b"), clock });
  expect(order.join("")).toBe("ab" + "abba".repeat(3));
  expect(times.base.rows.map(({ median }) => median)).toEqual(times.base.rows.map(() => 1));
  expect(times.candidate.rows.map(({ median }) => median)).toEqual(times.base.rows.map(() => 2));
  expect(times.ratios.map(({ op }) => op)).toEqual(times.base.rows.map(({ op }) => op));
  for (const { ratio, low, high } of times.ratios) expect([ratio, low, high]).toEqual([2, 2, 2]);
});
