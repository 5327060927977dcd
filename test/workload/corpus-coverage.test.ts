// What the shipped scenarios exercise by themselves: everything, and no corpus that lacks some of it passes for the whole.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import type { CoverageTable } from "../../src/tools/coverage-counts.js";
import { traceCoverage } from "../../src/tools/coverage.js";
import type { RunResult } from "../../src/tools/outcome.js";
import { runScenarios } from "../../src/tools/run-scenarios.js";
import type { RunScenariosOptions } from "../../src/tools/run-scenarios.js";
import { runFromJson } from "../../src/report/from-json.js";
import { runJson } from "../../src/report/json.js";
import { PLAIN } from "../../src/report/palette.js";
import { runText } from "../../src/report/run-text.js";
import { loadScenarios, scenarioWorkload } from "../../src/workload/scenario.js";
import { at, FaultyAdapter, recorded, right } from "../tools/faulty-adapter.js";

const FOLDER = fileURLToPath(new URL("../../scenarios/", import.meta.url));
const ALL = loadScenarios([FOLDER]);
const PARTS = 3;

async function exercised(change: Partial<RunScenariosOptions> = {}): Promise<RunResult> {
  return runScenarios({
    scenarios: ALL,
    start: async () => new InProcessAdapter({ device: "none" }),
    coverage: { floor: 100 },
    ...change,
  });
}

function tablesOf({ coverage }: RunResult): readonly CoverageTable[] {
  expect(coverage).toBeDefined();
  return coverage!.tables;
}

function missingOf(tables: readonly CoverageTable[]): string[] {
  return tables.flatMap(({ name, items }) =>
    items
      .filter(({ isCovered }) => !isCovered)
      .map((item) => `${name}: ${item.name} ${item.note ?? ""}`),
  );
}

/** Counts by table and name. */
function countsOf(tables: readonly CoverageTable[]): Map<string, number> {
  return new Map(
    tables.flatMap(({ name, items }) =>
      items.map((item) => [`${name}/${item.name}`, item.count] as const),
    ),
  );
}

const WHOLE = await exercised();

test("the corpus alone reaches every item of every table", () => {
  const result = WHOLE;
  expect(missingOf(tablesOf(result))).toEqual([]);
  expect(tablesOf(result).length).toBe(6);
  expect(result).toMatchObject({ verdict: "passed", coverage: { percent: 100, floor: 100 } });
});

test("counts of parts add up to those of the whole", async () => {
  const whole = countsOf(tablesOf(WHOLE));
  const sum = new Map([...whole.keys()].map((name) => [name, 0]));
  for (let index = 1; index <= PARTS; index++) {
    const part = await exercised({ shard: { index, of: PARTS } });
    expect(part.verdict).toBe("incomplete"); // never short: the others may have the rest
    for (const [name, count] of countsOf(tablesOf(part))) sum.set(name, sum.get(name)! + count);
  }
  expect(sum).toEqual(whole);
});

test("what is counted while scenarios run is what their recording counts", async () => {
  const scenarios = ALL.filter((_, index) => index % 9 === 0);
  const ran = await exercised({ scenarios });
  const trace = await recorded(
    scenarios.flatMap((one) => one.configs.map(([name]) => scenarioWorkload(one, name))),
  );
  const read = await traceCoverage({
    traces: [trace],
    start: () => new InProcessAdapter({ device: "none" }),
  });
  expect(read.violations).toBe(0);
  expect(ran.operations).toBe(read.operations);
  expect(tablesOf(ran)).toEqual(read.tables);
});

test("a corpus that lacks an item is short of the floor, one that fails has failed", async () => {
  const lacking = ALL.filter(({ name }) => !name.startsWith("ten_receives"));
  const some = ALL.slice(0, 3);
  const short = await exercised({ scenarios: lacking });
  expect(short.verdict).toBe("short");
  expect(missingOf(tablesOf(short)).join("\n")).toMatch(/net\.stall .*of 10/);
  const text = runText(short, PLAIN, false).split("\n");
  expect(text).toContain("  missing  net.stall  granted 2 times of 10");
  expect(text.at(-1)).toMatch(/^short: (\d+) of \1 runs passed, .* 9\d % covered of 100 % asked$/);
  const { percent } = (await exercised({ scenarios: some })).coverage!;
  for (const [floor, verdict] of [
    [percent, "passed"],
    [percent + 1, "short"],
  ] as const) {
    expect((await exercised({ scenarios: some, coverage: { floor } })).verdict).toBe(verdict);
  }
  const wrong = at(1, () => ({ err: { code: "refused_busy", holders: [] } }));
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(wrong);
  expect((await exercised({ scenarios: some, start })).verdict).toBe("failed");
});

test("an implementation that does not tell what it reaches inside lacks those two tables", async () => {
  const start = async (): Promise<FaultyAdapter> => new FaultyAdapter(right);
  const result = await exercised({ scenarios: ALL.slice(0, 5), start });
  expect(tablesOf(result).map(({ name }) => name)).toEqual([
    "operation kinds",
    "refusals",
    "broken rules",
    "effects",
  ]);
  expect(runText(result, PLAIN, false)).toContain("not told");
});

test("a saved report gives its coverage back; without the question there is none", async () => {
  const scenarios = ALL.slice(0, 5);
  const result = await exercised({ scenarios });
  const value: unknown = JSON.parse(JSON.stringify(runJson(result)));
  const again = runFromJson({ file: "run.json", value, placeOf: () => ({ line: 1, column: 1 }) });
  expect(again).toEqual(result);
  const { coverage: _coverage, ...silent } = await exercised({ scenarios });
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  expect(await runScenarios({ scenarios, start })).toEqual({ ...silent, verdict: "passed" });
});
