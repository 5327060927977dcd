// The counts of a trace, on lines written by hand.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { traceStats } from "../../src/tools/stats.js";
import { loadScenarios, scenarioWorkload } from "../../src/workload/scenario.js";
import { readLines, recorded, seeds, writeLines } from "./faulty-adapter.js";
import type { Line } from "./faulty-adapter.js";

const [header, run] = readLines(await recorded(seeds(0, 1, 1)));
const band = run!["config"].sub_pools[0].name as string;
const bands = readLines(await recorded(seeds(0, 1, 1)))[2]!;

function statsOf(ops: readonly Line[]): ReturnType<typeof traceStats> {
  const lines = ops.map((line, index) => ({ kind: "op", n: index + 1, ...line }));
  const boot = { kind: "op", n: 0, op: "boot", args: {}, ok: bands["ok"] };
  const end = { kind: "end", run: run!["run"], ops: ops.length + 1 };
  return traceStats({ trace: writeLines([header!, run!, boot, ...lines, end]) });
}

test("every kind of thing is counted once", async () => {
  const stats = await statsOf([
    { op: "row.alloc", args: { reqs: ["r1"] }, ok: { rows: { r1: 1 } } },
    {
      op: "tokens.extend",
      args: { batch: [{ req: "r1", from: 0, to: 16 }] },
      ok: {
        pages: { r1: { virtual: [[2, 1]], [band]: [[1, 1]], full: [[9, 1]] } },
        step: "flush_ends",
      },
      fx: [
        ["wait", "f1"],
        [
          "move",
          "full",
          [
            [7, 9],
            [6, 8],
          ],
        ],
        ["move", band, [[3, 1]]],
        ["zero", "full", [[9, 1]]],
      ],
    },
    {
      op: "tokens.decode",
      args: { batch: [{ req: "r1", len: 99 }] },
      err: { code: "invalid", rule: "extend_not_at_length", req: "r1" },
    },
    {
      op: "tokens.decode",
      args: { batch: [{ req: "r1", len: 17 }] },
      err: { code: "refused_ids", need: 1, free: 0 },
    },
    {
      op: "forward.launch",
      args: { step: "f1", batch: [{ req: "r1", from: 0, to: 16 }], mode: "extend" },
      ok: { resets: [] },
      fx: [["forward", "f1"]],
    },
    { op: "forward.record", args: { step: "f1", writes: "known" }, ok: {}, fx: [["event", "f1"]] },
    {
      op: "window.retire",
      args: { req: "r1", len: 16 },
      ok: { [band]: { cursor: 0, floor: null, freed: [] } },
    },
    {
      op: "window.retire",
      args: { req: "r1", len: 16 },
      ok: { [band]: { cursor: 16, floor: null, freed: [[1, 1]] } },
    },
    {
      op: "ask.plan",
      args: { demand: { full: 1 } },
      ok: { step: "relayout", spans: {}, moves: {} },
    },
    {
      op: "request.retract",
      args: { req: "r1" },
      ok: { freed: { virtual: [[2, 1]], full: [[9, 1]] } },
    },
    {
      op: "forward.process",
      args: { step: "f1" },
      ok: { released: { full: [[9, 1]], [band]: [[1, 1]] } },
    },
  ]);
  expect(stats).toMatchObject({
    runs: 1,
    operations: 12,
    refused: 1,
    refusals: { refused_ids: 1, "invalid/extend_not_at_length": 1 },
    steps: { flush_ends: 1 },
    moves: { effects: 2, pages: 3, operations: 1 },
    waits: { effects: 1, operations: 1 },
    retirements: { operations: 1, pages: 1 },
    retractions: 1,
    operationsWithPending: 3, // the second retirement, the question and the retraction
    effects: { wait: 1, move: 2, zero: 1, forward: 1, event: 1 },
  });
  expect(stats.operationKinds).toMatchObject({ "window.retire": 2, boot: 1 });
});

test("a free while nothing is recorded leaves nothing pending", async () => {
  const freed = { virtual: [[2, 1]], full: [[9, 1]] };
  const stats = await statsOf([
    { op: "row.alloc", args: { reqs: ["r1"] }, ok: { rows: { r1: 1 } } },
    { op: "tokens.free", args: { req: "r1", from: 0, to: 16, bands: "all" }, ok: { freed } },
  ]);
  expect(stats.operationsWithPending).toBe(0);
});

// B065: five rounds of four moved pages each, and nothing else that moves.
test("pages moved again each round are counted once a round", async () => {
  const file = new URL("../../scenarios/moved_pages_do_not_drift.json", import.meta.url);
  const [scenario] = loadScenarios([fileURLToPath(file)]);
  const stats = await traceStats({ trace: await recorded([scenarioWorkload(scenario!, null)]) });
  expect(stats.moves).toEqual({ effects: 5, pages: 20, operations: 5 });
  expect(stats.operationsWithPending).toBe(5);
});

test("a run that is not there and a trace without operations are refused", async () => {
  await expect(traceStats({ trace: writeLines([header!]) })).rejects.toThrow(/nothing was counted/);
  const trace = await recorded(seeds(0, 1));
  await expect(traceStats({ trace, run: "nothing" })).rejects.toThrow(/no such run/);
});
