// What a kill leaves of a recording that keeps its last operations: at any moment a file that holds them, behind the state
// before them, up to the call that was made; and nothing once the recording is over.
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { record } from "../../src/tools/record.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import type { Workload } from "../../src/workload/workload.js";
import { FaultyAdapter, freshPath, type Line, readLines, recorded } from "./faulty-adapter.js";

const OPS = 3200;
const STRETCH = 1024; // a state is kept after so many operations
const workload = (): Workload =>
  seededWorkload({ seed: 5, ops: OPS, layout: "full+window", pageSize: 16 });

interface Kept {
  readonly looks: ReadonlyMap<number, readonly Line[]>; // by the operation that was about to be answered
  readonly left: readonly string[]; // files, once it was over
}

/** Records the last operations and looks at the files beside the trace while an operation is asked. */
async function kept(last: number, looksAt: readonly number[], fails = false): Promise<Kept> {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-kept-"));
  const looks = new Map<number, readonly Line[]>();
  const look = (n: number): null => {
    if (fails && n === looksAt.at(-1)) throw new Error("planted");
    if (!looksAt.includes(n) || looks.has(n)) return null; // asked anew for the state at the end
    const files = readdirSync(folder);
    expect(files).toHaveLength(1);
    const text = readFileSync(join(folder, files[0]!), "utf8");
    looks.set(
      n,
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
    return null;
  };
  const start = async (): Promise<Adapter> => new FaultyAdapter((n) => look(n));
  const writer = createTraceWriter(freshPath(), { crashSafe: true });
  const done = record({
    ...{ workloads: [workload()], start, writer, digestDepth: "layout", last, intentFirst: true },
    openSpill: () => createTraceWriter(join(folder, "kept.jsonl"), { crashSafe: true }),
  });
  if (fails) await expect(done).rejects.toThrow("planted");
  else await done;
  writer.abort();
  return { looks, left: readdirSync(folder) };
}

describe("what a kill leaves", async () => {
  const whole = readLines(await recorded([workload()])).filter(({ kind }) => kind === "op");
  const without = ({ digest: _, ...line }: Line): Line => line;

  test.each([[1], [100], [1500]])("the last %i operations, at any moment", async (last) => {
    const at = [
      0,
      1,
      STRETCH - 1,
      STRETCH,
      2 * STRETCH - 1,
      2 * STRETCH,
      2500,
      3 * STRETCH,
      OPS - 1,
    ];
    const { looks, left } = await kept(last, at);
    expect([...looks.keys()]).toEqual(at);
    expect(left).toEqual([]);
    for (const [n, lines] of looks) {
      const [header, run, ...rest] = lines;
      expect([header.kind, run.kind]).toEqual(["trace", "run"]);
      const from = run.starts_at ?? 0;
      const first = rest[0];
      if (from > 0) expect([first.kind, first.n]).toEqual(["state", from - 1]);
      const operations = rest.filter(({ kind }) => kind === "op");
      expect(operations.map(({ n: number }) => number)).toEqual(
        Array.from({ length: n - from }, (_none, index) => from + index),
      );
      expect(operations.length).toBeGreaterThanOrEqual(Math.min(n, last));
      // no more than two stretches: the file does not grow with the run
      expect(operations.length).toBeLessThanOrEqual(2 * Math.max(last, STRETCH));
      expect(operations.slice(1)).toEqual(whole.slice(from + 1, n));
      if (operations.length > 0) expect(without(operations[0])).toEqual(without(whole[from]));
      expect(rest.at(-1)).toMatchObject({ kind: "call", n });
    }
  });

  test("a recording that is given up leaves nothing", async () => {
    expect((await kept(100, [5, 1200], true)).left).toEqual([]);
  });
});
