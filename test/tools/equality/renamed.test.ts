// Mode `renamed`: a trace whose ids went through a permutation equals the allocator that made it, whatever the run does;
// a renaming that changes while an id lives is found where it shows.
import { expect, test } from "vitest";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import type { CompareResult } from "../../../src/tools/outcome.js";
import type { CompareMode } from "../../../src/tools/equality/modes.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { seededWorkload } from "../../../src/workload/seeded.js";
import { type Line, readLines, recorded, writeLines } from "../faulty-adapter.js";
import { relabelled, Renaming } from "./relabelled.js";

const WEIGHTS = ["default", "steady", "transfers", "windows", "swarm", "stages"];

const trace = await recorded(
  WEIGHTS.flatMap((weights, index) =>
    [2 * index, 2 * index + 1].map((seed) =>
      seededWorkload({
        seed,
        ops: 250,
        layout: LAYOUTS[seed % LAYOUTS.length]!,
        pageSize: seed % 2 === 0 ? 16 : 3,
        weights,
      }),
    ),
  ),
);
const lines = readLines(trace);

function compared(base: string, mode: CompareMode): Promise<CompareResult> {
  return compareTrace({
    trace: base,
    candidate: "self",
    start: async () => new InProcessAdapter({ device: "none" }),
    mode,
  });
}

/** Rewrites each operation with the renaming that `pick` gives for it. */
function rewritten(pick: (run: string, n: number) => Renaming): Line[] {
  let run = "";
  let bands: ReadonlySet<string> = new Set();
  return lines.map((line) => {
    if (line.kind === "run") {
      run = line.run;
      bands = new Set(line.config.sub_pools.map(({ name }: Line) => name));
      return { ...line, digest_depth: null };
    }
    if (line.kind === "end") return { ...line, digest: null };
    return relabelled(line, pick(run, line.n), bands);
  });
}

test(
  "a renamed trace is equal up to the names, and not exactly",
  { timeout: 300_000 },
  async () => {
    const base = writeLines(rewritten(once(7)));
    const renamed = await compared(base, "renamed");
    expect(renamed.runs.map(({ run, divergence }) => [run, divergence?.n ?? null])).toEqual(
      renamed.runs.map(({ run }) => [run, null]),
    );
    expect(renamed.verdict).toBe("equal");
    expect(renamed.operations).toBe(lines.filter(({ kind }) => kind === "op").length);
    const exact = await compared(base, "exact");
    expect(exact.verdict).toBe("divergent");
    for (const { examination } of exact.runs) {
      expect(examination?.holds).toEqual(expect.arrayContaining(["renamed", "placement-free"]));
    }
  },
);

test("each run is equal to itself in every mode", { timeout: 300_000 }, async () => {
  for (const mode of ["renamed", "placement-free", "decisions"] as const) {
    const { verdict, runs } = await compared(trace, mode);
    expect([verdict, runs.filter(({ divergence }) => divergence !== null)]).toEqual([
      mode === "renamed" ? "equal" : "agree",
      [],
    ]);
  }
});

test("a renaming that changes while ids live is broken, and the report names it", async () => {
  const [first, second] = [once(7), once(1007)];
  const base = writeLines(rewritten((run, n) => (n < 120 ? first : second)(run, n)));
  const { runs } = await compared(base, "renamed");
  const broken = runs.filter(({ divergence }) => divergence !== null);
  // in a few nothing that lived then is named again
  expect(broken.length).toBeGreaterThan(runs.length / 2);
  for (const { divergence } of broken) {
    expect(divergence!.n).toBeGreaterThanOrEqual(120);
    const { space, base: id, candidate, expected } = divergence!.renaming!;
    expect(space).not.toBe("");
    expect(expected === null || expected !== candidate).toBe(true);
    expect(Number.isInteger(id)).toBe(true);
  }
});

/** One renaming a run. */
function once(seed: number): (run: string, n: number) => Renaming {
  const byRun = new Map<string, Renaming>();
  return (run) => {
    const known = byRun.get(run) ?? new Renaming(seed + 100 * byRun.size);
    byRun.set(run, known);
    return known;
  };
}
