// Scenarios against an implementation: what passes, what fails and where, what proves nothing.
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { runScenarios } from "../../src/tools/run-scenarios.js";
import { runWorkloads } from "../../src/tools/run-workload.js";
import type { ScenarioResult } from "../../src/tools/outcome.js";
import { loadConfigs } from "../../src/workload/configs.js";
import { syntheticTrace } from "../../src/workload/request-traces-synthetic.js";
import { loadScenarios } from "../../src/workload/scenario.js";
import { servingWorkload } from "../../src/workload/serving.js";
import type { Workload } from "../../src/workload/workload.js";
import { at, FaultyAdapter, freshPath, right, seeds } from "./faulty-adapter.js";
import type { Mistake } from "./faulty-adapter.js";

const CONFIG = {
  ...{ page_size: 1, arena_bytes: 640, rows: 4, row_tokens: 32, overlap: true },
  sub_pools: [
    { name: "window_4", kind: "mha", window: 4, unit_bytes: 8 },
    { name: "full", kind: "mha", unit_bytes: 16 },
  ],
};
const ROW = { op: "row.alloc", args: { reqs: ["r1"] } };
const EXTEND = { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 6 }] } };
const ASK = { op: "ask.fits", args: { demand: { full: 1 } } };
const TOO_MUCH = {
  ...{ op: "tokens.extend", args: { batch: [{ req: "r1", from: 6, to: 40 }] } },
  expect: { err: { code: "invalid", rule: "beyond_row" } },
};

async function run(
  change: object,
  mistake: Mistake = right,
  options: { deepState?: boolean; ops?: readonly string[] } = {},
): Promise<ScenarioResult> {
  const path = freshPath("scenario.json");
  const scenario = {
    ...{ name: "small", story: "One request. It grows and goes.", tags: [] },
    ...{
      config: CONFIG,
      ops: [ROW, EXTEND, ASK, TOO_MUCH],
      finally: { quiescent: true, ledger: "empty", drain: true },
    },
    ...change,
  };
  writeFileSync(path, JSON.stringify(scenario));
  const info = options.ops === undefined ? {} : { ops: options.ops };
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(mistake, null, info);
  const { scenarios } = await runScenarios({ scenarios: loadScenarios([path]), start });
  expect(scenarios.length).toBe(1);
  return scenarios[0]!;
}

test("a sound implementation passes, the drain included", async () => {
  const result = await run({});
  expect(result).toMatchObject({ verdict: "passed", n: null, message: null, config: null });
  expect(result.operations).toBeGreaterThan(5); // boot, the four, and the drain
});

test("an expectation that does not hold is named with operation, place, expected and got", async () => {
  const wrong = { ...EXTEND, expect: { ok: { step: "relayout" } } };
  const result = await run({ ops: [ROW, wrong] });
  expect(result).toMatchObject({ verdict: "failed", n: 2, op: "tokens.extend" });
  expect(result.message).toMatch(/step.*relayout.*no_move/);
});

test("without an expectation the answer must be ok", async () => {
  const refuses = at(2, () => ({ err: { code: "refused_ids", need: 6, free: 0 } }));
  expect(await run({}, refuses)).toMatchObject({ verdict: "failed", n: 2 });
});

test("a question or a refusal that changes the state fails (law 1)", async () => {
  for (const n of [3, 4]) {
    const changes = at(n, (answer) => ({ ...answer, digest: { full: "f".repeat(16) } }));
    expect(await run({}, changes)).toMatchObject({
      verdict: "failed",
      n,
      message: /changed the state/,
    });
  }
});

test("a crash is a failure at its operation, and the next scenario runs all the same", async () => {
  const path = freshPath("second.json");
  const second = {
    name: "second",
    story: "Another one.",
    tags: [],
    config: CONFIG,
    ops: [ROW],
    finally: {},
  };
  writeFileSync(path, JSON.stringify(second));
  const first = freshPath("first.json");
  writeFileSync(first, JSON.stringify({ ...second, name: "first", ops: [ROW, EXTEND] }));
  const crashes = at(2, () => ({ kind: "crash", message: "planted" }));
  const result = await runScenarios({
    scenarios: loadScenarios([first, path]),
    start: async () => new FaultyAdapter(crashes),
  });
  expect(result.verdict).toBe("failed");
  expect(result.scenarios).toMatchObject([
    { name: "first", verdict: "failed", n: 2, message: "crash: planted" },
    { name: "second", verdict: "passed" },
  ]);
});

test("pages that stay pending are not quiescent", async () => {
  const launch = {
    op: "forward.launch",
    args: { step: "f1", batch: [{ req: "r1", from: 0, to: 6 }], mode: "extend" },
  };
  const record = { op: "forward.record", args: { step: "f1", writes: "known" } };
  const retire = { op: "window.retire", args: { req: "r1", len: 6 } };
  const result = await run({
    ops: [ROW, EXTEND, launch, record, retire],
    finally: { quiescent: true },
  });
  expect(result).toMatchObject({ verdict: "failed", message: /at the end/ });
});

test("a name that nothing opens is invalid, and nothing runs", async () => {
  const result = await run({ ops: [ROW, { op: "row.free", args: { req: "r7" } }] });
  expect(result).toMatchObject({ verdict: "invalid", n: 2, operations: 0, message: /r7/ });
});

test("an implementation that lacks an operation proves nothing", async () => {
  const result = await run(
    {},
    at(2, () => ({ err: { code: "unsupported" } })),
  );
  expect(result).toMatchObject({ verdict: "incomplete", n: 2 });
});

test("a workload runs to its end, or to the operation at which a promise is broken", async () => {
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter();
  const passed = await runWorkloads({ workloads: seeds(0, 2), start });
  expect(passed).toMatchObject({ verdict: "passed", operations: 240 });
  const crashes = at(9, () => ({ kind: "hang", message: "planted" }));
  const failed = await runWorkloads({
    workloads: seeds(0, 2),
    start: async () => new FaultyAdapter(crashes, "full+window/p16/seed-0"),
  });
  expect(failed.scenarios).toMatchObject([
    { verdict: "failed", n: 9, message: "hang: planted" },
    { verdict: "passed" },
  ]);
});

describe("a workload whose time is over", () => {
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  const library = loadConfigs();
  const REQUESTS = 12;
  /** A run a page size, each of the same requests. */
  function served(...pageSizes: readonly number[]): Workload[] {
    return pageSizes.map((pageSize) =>
      servingWorkload({
        ...library.derived("serving/tight", "full+window", pageSize),
        ...{ configName: "serving/tight", layout: "full+window", pageSize },
        ...{ trace: syntheticTrace(1, REQUESTS), limit: REQUESTS },
      }),
    );
  }

  test("ends with the next request that is served, at any operation", async () => {
    const whole = await runWorkloads({ workloads: served(16), start });
    expect(whole).toMatchObject({ verdict: "passed", leftOut: 0, counters: { served: REQUESTS } });
    let last = 0;
    for (const part of [0, 0.3, 0.6, 0.9]) {
      const after = Math.floor(part * whole.operations);
      let asked = 0;
      const isTimeOver = (): boolean => asked++ > after;
      const cut = await runWorkloads({ workloads: served(16), start, isTimeOver });
      const done = cut.counters["served"]!;
      expect(cut.verdict).toBe("incomplete");
      expect(cut.operations).toBeGreaterThanOrEqual(after);
      expect(done).toBeGreaterThan(0);
      expect(done).toBeGreaterThanOrEqual(last);
      last = done;
      const [only] = cut.scenarios;
      expect(only).toMatchObject({ verdict: "incomplete", operations: cut.operations });
      expect(only!.message).toBe(`the time was over: ${done} of ${REQUESTS} requests were served`);
      expect(cut.leftOut).toBe(0);
    }
    expect(last).toBeGreaterThan(1);
  });

  test("begins no further run; what is left out is counted", async () => {
    let asked = 0;
    const isTimeOver = (): boolean => asked++ > 20;
    const cut = await runWorkloads({ workloads: served(16, 64, 1), start, isTimeOver });
    expect(cut).toMatchObject({ verdict: "incomplete", leftOut: 2 });
    expect(cut.scenarios).toHaveLength(1);
    const none = await runWorkloads({ workloads: served(16, 64), start, isTimeOver: () => true });
    expect(none).toMatchObject({ verdict: "incomplete", leftOut: 2, operations: 0, scenarios: [] });
  });

  test("its runs are dealt out, each to one part", async () => {
    const names: string[] = [];
    for (const index of [1, 2]) {
      const shard = { index, of: 2 };
      const part = await runWorkloads({ workloads: served(16, 64, 1), start, shard });
      expect(part.verdict).toBe("incomplete");
      expect(part.scenarios.length + part.leftOut).toBe(3);
      names.push(...part.scenarios.map(({ name }) => name));
    }
    expect(names.sort()).toEqual(
      served(16, 64, 1)
        .map(({ run }) => run)
        .sort(),
    );
  });
});
