// A run that uses a name which nothing opens is invalid, whatever the candidate does with it.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import { OpenNames } from "../../src/trace/open-names.js";
import { loadScenarios, scenarioWorkload } from "../../src/workload/scenario.js";
import {
  at,
  FaultyAdapter,
  freshPath,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "./faulty-adapter.js";
import type { Line, Mistake } from "./faulty-adapter.js";

const trace = await recorded(seeds(0, 8));
const lines = readLines(trace);

function compare(of: readonly Line[], mistake: Mistake = right): Promise<CompareResult> {
  const start = async (): Promise<Adapter> => new FaultyAdapter(mistake);
  return compareTrace({ trace: writeLines(of), candidate: "planted", start });
}

/** A request that an operation of the first run names and that was granted. */
function renamed(n: number): Line[] {
  let isFirst = true;
  return lines.map((line) => {
    if (line.kind === "end") isFirst = false;
    if (!isFirst || line.kind !== "op" || line.n !== n) return line;
    return { ...line, args: { batch: [{ ...line.args.batch[0], req: "r77" }] } };
  });
}

const place = lines.findIndex(
  ({ kind, op, ok, args }) =>
    kind === "op" && op.startsWith("tokens.") && ok !== undefined && args.batch?.length === 1,
);
const n: number = lines[place]?.n;

test("a name that nothing opens makes the run invalid, not divergent", async () => {
  const result = await compare(renamed(n));
  expect(result.verdict).toBe("invalid");
  expect(result.runs[0]).toMatchObject({ verdict: "invalid", agreed: n, divergence: null });
  expect(result.runs[0]?.note).toContain("r77, which nothing opens");
});

test("so it does when the candidate breaks there", async () => {
  const crash = at(n, () => ({ kind: "crash", message: "planted" }));
  expect((await compare(renamed(n), crash)).runs[0]?.verdict).toBe("invalid");
});

test("no name of a recording dangles, unless its answer says so (law over seeds)", () => {
  let names = new OpenNames();
  let checked = 0;
  for (const { kind, op, args, err } of lines) {
    if (kind === "run") names = new OpenNames();
    if (kind !== "op") continue;
    if (err?.code !== "invalid") {
      expect(names.check({ op, args })?.kind).not.toBe("dangling");
      checked += 1;
    }
    names.note({ op, args }, err === undefined);
  }
  expect(checked).toBeGreaterThan(500);
});

test("a difference on names that are open stays a divergence", async () => {
  const result = await compare(
    lines,
    at(n, () => ({ err: { code: "refused_ids" } })),
  );
  expect(result.runs[0]).toMatchObject({ verdict: "divergent", divergence: { n } });
});

test("a request that a restore opened under a new name was opened", async () => {
  const row = { req: "r1" };
  const small = {
    ...{ page_size: 1, arena_bytes: 64, rows: 2, row_tokens: 8, host: { full: 4 } },
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
  };
  const gone = { op: "tokens.decode", args: { batch: [{ req: "r2", len: 3 }] } };
  const scenario = {
    ...{ name: "restored", story: "It comes back as r2, which then ends.", tags: [] },
    config: small,
    ops: [
      { op: "row.alloc", args: { reqs: ["r1"] } },
      { op: "tokens.extend", args: { batch: [{ ...row, from: 0, to: 2 }] } },
      { op: "request.retract", args: { ...row, backup: "c1" } },
      { op: "host.backup_done", args: { copy: "c1", outcome: "ok" } },
      { op: "request.restore", args: { req: "r2", copy: "c1" } },
      { op: "host.load_done", args: { copy: "c1", outcome: "ok" } },
      { op: "request.finish", args: { req: "r2", len: 2, insert: false } },
      { ...gone, expect: { err: { code: "invalid", rule: "unknown_request", req: "r2" } } },
    ],
  };
  const file = freshPath("restored.json");
  writeFileSync(file, JSON.stringify(scenario));
  const [loaded] = loadScenarios([file]);
  const restored = await recorded([scenarioWorkload(loaded!, null)]);
  expect((await compare(readLines(restored))).verdict).toBe("equal");
});
