// Shards: together they are the whole, no piece twice, whatever the order, at about the same cost each; a time budget
// leaves out what it does not reach, and saved failures come first.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { Prng } from "../../src/base/prng.js";
import { runScenarios } from "../../src/tools/run-scenarios.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import { record } from "../../src/tools/record.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import type { UnitPlan } from "../../src/tools/stress/units.js";
import { runNameOf, unitCount, unitPlace, unitsOf } from "../../src/tools/stress/units.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { ofShard } from "../../src/tools/shards.js";
import { loadScenarios } from "../../src/workload/scenario.js";

interface Piece {
  readonly name: string;
  readonly cost: number;
}

const sum = (pieces: readonly Piece[]): number => pieces.reduce((all, { cost }) => all + cost, 0);
const names = (pieces: readonly Piece[]): string[] => pieces.map(({ name }) => name).sort();

describe.each([1, 2, 3, 4, 7])("of %i parts", (of) => {
  test.each([1, 2, 3, 4, 5])("the whole, once, in balance, in whatever order (seed %i)", (seed) => {
    const prng = new Prng(seed, of);
    const pieces = Array.from({ length: prng.between(0, 60) }, (_, index): Piece => ({
      name: `piece ${index}`,
      cost: prng.chance(1, 8) ? prng.between(50, 400) : prng.between(1, 20),
    }));
    const parts = Array.from({ length: of }, (_, at) => ofShard(pieces, { index: at + 1, of }));
    expect(names(parts.flat())).toEqual(names(pieces));
    // the dearest piece went to the part that had the least
    const costs = parts.map(sum);
    const dearest = Math.max(0, ...pieces.map(({ cost }) => cost));
    expect(Math.max(...costs) - Math.min(...costs)).toBeLessThanOrEqual(dearest);
    const mixed = [...pieces];
    for (let at = mixed.length - 1; at > 0; at--) {
      const other = prng.below(at + 1);
      [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
    }
    for (const [at, part] of parts.entries())
      expect(ofShard(mixed, { index: at + 1, of })).toEqual(part);
  });
});

const folder = mkdtempSync(join(tmpdir(), "ut-shards-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
const SCENARIOS = loadScenarios([fileURLToPath(new URL("../../scenarios/", import.meta.url))]);

describe("scenarios", () => {
  test("four shards run each scenario on each configuration once, and each says what it left out", async () => {
    const whole = await runScenarios({ scenarios: SCENARIOS, start });
    expect([whole.verdict, whole.leftOut]).toEqual(["passed", 0]);
    const idOf = ({ name, config }: { name: string; config: string | null }): string =>
      `${name}@${config ?? ""}`;
    const met: string[] = [];
    const operations: number[] = [];
    for (const index of [1, 2, 3, 4]) {
      const part = await runScenarios({ scenarios: SCENARIOS, start, shard: { index, of: 4 } });
      expect(part.verdict).toBe("incomplete");
      expect(part.leftOut).toBe(whole.scenarios.length - part.scenarios.length);
      met.push(...part.scenarios.map(idOf));
      operations.push(part.operations);
    }
    expect([...met].sort()).toEqual(whole.scenarios.map(idOf).sort());
    expect(Math.max(...operations)).toBeLessThan(1.15 * Math.min(...operations));
  }, 60_000);

  test("a budget that is over leaves the rest out; the slowest were first, and are told in their place", async () => {
    let asked = 0;
    const begun: string[] = [];
    const result = await runScenarios({
      ...{ scenarios: SCENARIOS, start },
      isTimeOver: () => (asked += 1) > 5,
      onProgress: ({ run }) => begun.push(run ?? ""),
    });
    expect(result.scenarios.length).toBe(5);
    expect([result.verdict, result.leftOut > 100]).toEqual(["incomplete", true]);
    const lengths = SCENARIOS.flatMap(({ ops, configs }) => configs.map(() => ops.length));
    const least = lengths.sort((left, right) => right - left)[4]!;
    const own = result.scenarios.map(({ name }) => SCENARIOS.findIndex((one) => one.name === name));
    for (const at of own) expect(SCENARIOS[at]!.ops.length).toBeGreaterThanOrEqual(least);
    expect([...own].sort((left, right) => left - right)).toEqual(own);
  });

  test("saved failures come first, however short they are", async () => {
    mkdirSync(join(folder, "cases"));
    const scenario = {
      ...{ name: "a_saved_one", story: "Nothing happens. It is short.", tags: [] },
      config: {
        ...{ page_size: 1, arena_bytes: 640, rows: 4, row_tokens: 32 },
        sub_pools: [
          { name: "window_4", kind: "mha", window: 4, unit_bytes: 8 },
          { name: "full", kind: "mha", unit_bytes: 16 },
        ],
      },
      ops: [{ op: "row.alloc", args: { reqs: ["r1"] } }],
      finally: { drain: true },
    };
    const path = join(folder, "cases", "a.json");
    writeFileSync(path, JSON.stringify(scenario));
    let asked = 0;
    const scenarios = [...SCENARIOS, ...loadScenarios([path])];
    const isTimeOver = (): boolean => (asked += 1) > 1;
    const result = await runScenarios({ scenarios, start, isTimeOver });
    expect(result.scenarios.map(({ name }) => name)).toEqual(["a_saved_one"]);
  });
});

describe("stress", () => {
  const plan: Omit<UnitPlan, "shard"> = {
    ...{ seeds: { from: 3, to: 40 }, ops: 10, layouts: LAYOUTS, pageSizes: [1, 3, 4, 16, 64] },
    ...{ profile: "mixed", questionsEvery: 8 },
    device: "model",
  };
  const named = (shard: { index: number; of: number } | null): string[] =>
    [...unitsOf({ ...plan, shard })].map(runNameOf);

  test.each([1, 2, 3, 4, 5, 7, 10, 400])(
    "%i parts are the whole, once; each counts its own",
    (of) => {
      const parts = Array.from({ length: of }, (_, at) => named({ index: at + 1, of }));
      expect(parts.flat().sort()).toEqual(named(null).sort());
      for (const [at, part] of parts.entries()) {
        const own = { ...plan, shard: { index: at + 1, of } };
        expect(unitCount(own)).toBe(part.length);
        expect(part.every((run) => unitPlace(own, run) !== null)).toBe(true);
      }
      // every page size in every part, also where their number divides that of the parts
      if (of > 10) return;
      for (const part of parts)
        expect(new Set(part.map((run) => run.split("/")[1])).size).toBe(plan.pageSizes.length);
    },
  );
});

test("the runs of a trace: dealt out by their lengths, all of them once", async () => {
  const trace = join(folder, "runs.jsonl");
  const writer = createTraceWriter(trace);
  const lengths = [150, 20, 20, 20, 100, 20, 50, 20];
  const workloads = lengths.map((ops, seed) =>
    seededWorkload({ seed, ops, layout: "full+window", pageSize: 4 }),
  );
  await record({ workloads, start, writer, digestDepth: null });
  writer.commit();
  const met: string[] = [];
  const operations: number[] = [];
  for (const index of [1, 2]) {
    const part = { trace, candidate: "self", start, shard: { index, of: 2 } };
    const { runs, verdict, leftOut } = await compareTrace(part);
    expect([verdict, leftOut]).toEqual(["incomplete", lengths.length - runs.length]);
    met.push(...runs.map(({ run }) => run));
    operations.push(runs.reduce((sum, run) => sum + run.operations, 0));
  }
  expect([...met].sort()).toEqual(workloads.map(({ run }) => run).sort());
  expect(new Set(met).size).toBe(lengths.length);
  // every other run would be 320 to 80
  expect(Math.max(...operations)).toBeLessThan(1.3 * Math.min(...operations));
});
