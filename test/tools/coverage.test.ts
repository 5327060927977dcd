// Coverage of a corpus: what its lines show, and what only a replay shows.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { type Coverage, traceCoverage } from "../../src/tools/coverage.js";
import { recorded, seeds } from "./faulty-adapter.js";

const WORKED = fileURLToPath(new URL("../../../shared/golden/three-bands.jsonl", import.meta.url));

function start(): InProcessAdapter {
  return new InProcessAdapter({ device: "none" });
}

function countsOf(coverage: Coverage, table: string): Record<string, number> {
  const items = coverage.tables.find(({ name }) => name === table)?.items ?? [];
  return Object.fromEntries(
    items.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]),
  );
}

test("a golden trace, counted apart", async () => {
  if (!existsSync(WORKED)) {
    console.warn("skipped: the golden traces are not here");
    return;
  }
  const coverage = await traceCoverage({ traces: [WORKED], start });
  const text = readFileSync(WORKED, "utf8");
  const times = (pattern: RegExp): number => [...text.matchAll(pattern)].length;
  expect(coverage).toMatchObject({ runs: 1, operations: times(/"kind":"op"/g), violations: 0 });
  expect(countsOf(coverage, "refusals")).toEqual({
    refused_capacity: times(/"code":"refused_capacity"/g),
  });
  for (const kind of ["wait", "move", "zero", "reset", "forward", "event"]) {
    expect(countsOf(coverage, "effects")[kind] ?? 0, kind).toBe(
      times(new RegExp(`\\["${kind}",`, "g")),
    );
  }
  // Nothing is granted ten times, and nothing is ever fixed, copied or sent.
  expect(coverage.tables[0]?.covered).toBe(0);
  const cells = Object.keys(countsOf(coverage, "clearance cells"));
  expect(cells.filter((cell) => !cell.endsWith("/forward"))).toEqual([]);
});

test("counts of several files add up", async () => {
  const trace = await recorded(seeds(0, 2, 60));
  const once = await traceCoverage({ traces: [trace], start });
  const twice = await traceCoverage({ traces: [trace, trace], start });
  for (const [index, table] of once.tables.entries()) {
    const doubled = twice.tables[index]!; // the same tables
    expect(doubled.items.map(({ count }) => count)).toEqual(
      table.items.map(({ count }) => 2 * count),
    );
  }
  expect(countsOf(once, "operation kinds")["boot"]).toBe(once.runs);
});
