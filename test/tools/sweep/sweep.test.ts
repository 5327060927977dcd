// Sweeps: laws over seeds first, then thresholds that follow from the rules of the allocators.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Adapter, ApplyResult, RunOpening } from "../../../src/adapter/adapter.js";
import { HeapAdapter } from "../../../src/adapter/heap-adapter.js";
import { parseHeapSpec } from "../../../src/adapter/heap-spec.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { Prng } from "../../../src/base/prng.js";
import { CandidateError, InputError, UsageError } from "../../../src/base/errors.js";
import type { BandState } from "../../../src/base/state.js";
import type { Operation } from "../../../src/base/operations.js";
import { HEAP_POLICIES } from "../../../src/heap/heap-allocator.js";
import { studyHeap } from "../../../src/tools/heap-study.js";
import { sweepKey } from "../../../src/tools/sweep/sweep.js";
import type { SweepOptions } from "../../../src/tools/sweep/sweep.js";
import type { Sweep, SweepPoint } from "../../../src/tools/sweep/outcome.js";
import { sweepValues } from "../../../src/tools/sweep/values.js";
import { describeUnless } from "../../skip-aloud.js";
import {
  at,
  FaultyAdapter,
  freshPath,
  readLines,
  recorded,
  seeds,
  writeLines,
} from "../faulty-adapter.js";
import type { Line } from "../faulty-adapter.js";

const plain = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });
const heap =
  (spec: string): (() => Promise<Adapter>) =>
  async () =>
    new HeapAdapter(parseHeapSpec(spec));

function swept(
  trace: string,
  key: string,
  values: readonly number[],
  more: Partial<SweepOptions> = {},
): Promise<Sweep> {
  return sweepKey({ trace, key, values, start: plain, ...more });
}

const seeded = await recorded(seeds(0, 4));
const lines = readLines(seeded);
const runs = lines.filter(({ kind }) => kind === "run");

/** Refusals of the lines of a run, without broken contracts: `op code` to how often and the first operation. */
function recordedRefusals(run: string): Map<string, { count: number; n: number }> {
  const found = new Map<string, { count: number; n: number }>();
  let isIn = false;
  for (const line of lines) {
    if (line.kind === "run") isIn = line.run === run;
    if (!isIn || line.kind !== "op" || line.err === undefined || line.err.code === "invalid")
      continue;
    const name = `${line.op} ${line.err.code}`;
    const known = found.get(name);
    if (known === undefined) found.set(name, { count: 1, n: line.n });
    else known.count += 1;
  }
  return found;
}

const namesOf = ({ refusals }: SweepPoint): string[] =>
  refusals.map(({ op, code }) => `${op} ${code}`);

describe("laws, on seeds", () => {
  test.each(runs.map(({ run, config }: Line) => [run as string, config]))(
    "%s: the recorded value gives exactly the recorded refusals",
    async (run, config) => {
      const { points } = await swept(seeded, "arena_bytes", [config.arena_bytes], { run });
      const wanted = recordedRefusals(run);
      const found = points[0]!.refusals.map(({ op, code, count, n }) => [
        `${op} ${code}`,
        { count, n },
      ]);
      expect(new Map(found as [string, { count: number; n: number }][])).toEqual(wanted);
      const total = [...wanted.values()].reduce((sum, { count }) => sum + count, 0);
      expect(points[0]).toMatchObject({ outcome: "swept", refused: total });
    },
  );

  test("a value among others comes to the same as alone", async () => {
    const { run, config } = runs[0]!;
    const values = [1, 0.75, 0.5, 0.25].map((part) => Math.floor(config.arena_bytes * part));
    const together = await swept(seeded, "arena_bytes", values, { run });
    for (const [index, value] of values.entries()) {
      const alone = await swept(seeded, "arena_bytes", [value], { run });
      expect(alone.points).toEqual([together.points[index]]);
    }
    expect(together.operations).toBe(
      together.points.reduce((sum, { operations }) => sum + operations, 0),
    );
    // the order of the values changes no point
    const backwards = await swept(seeded, "arena_bytes", values.toReversed(), { run });
    expect(backwards.points.toReversed()).toEqual(together.points);
  });

  test("a span tells of exactly the points that have its refusal", async () => {
    const { run, config } = runs[1]!;
    const values = sweepValues("arena_bytes", config.arena_bytes, 4096, { by: 2, isFactor: true });
    const { points, refusals } = await swept(seeded, "arena_bytes", values, { run });
    expect(new Set(refusals.map(({ op, code }) => `${op} ${code}`))).toEqual(
      new Set(points.flatMap(namesOf)),
    );
    expect(refusals.length).toBeGreaterThan(0);
    for (const { op, code, values: count, first, last, begins } of refusals) {
      const has = points.filter((point) => namesOf(point).includes(`${op} ${code}`));
      expect([count, first, last]).toEqual([has.length, has[0]?.value, has.at(-1)?.value]);
      if (begins !== null) expect([first, last]).toContain(begins.value);
    }
  });

  test("counts add up, and the peaks are those of the states", async () => {
    for (const { run, config } of runs) {
      const value = Math.floor(config.arena_bytes / 2);
      const looking = new Looking();
      const start = async (): Promise<Adapter> => looking;
      const { points } = await swept(seeded, "arena_bytes", [value], { run, start });
      const { granted, refused, invalid, operations, bands, moves } = points[0]!;
      expect(granted + refused + invalid).toBe(operations);
      expect(moves).toBe(looking.moves);
      expect(Object.fromEntries((bands ?? []).map(({ band, pages }) => [band, pages]))).toEqual(
        Object.fromEntries(looking.peaks),
      );
    }
  });
});

describe("laws, on seeded lifetimes in a heap", () => {
  const COUNT = 60; // buffers
  test.each([1, 2, 3])(
    "seed %s: every policy refuses what stats --allocators counts",
    async (seed) => {
      const prng = new Prng(seed);
      const buffers = Array.from({ length: COUNT }, (_, id) => {
        const lower = prng.below(100);
        return [id, lower, lower + 1 + prng.below(30), 1 + prng.below(400)].join(",");
      });
      const path = freshPath("lifetimes.csv");
      writeFileSync(path, `${["id,lower,upper,size", ...buffers].join("\n")}\n`);
      const log = `minimalloc:${path}`;
      for (const policy of HEAP_POLICIES) {
        const start = heap(policy);
        const { points } = await swept(log, "arena_bytes", [2 ** 20, 4096, 2048, 512], { start });
        expect(points[0]).toMatchObject({ refused: 0, left: 0, operations: 2 * COUNT });
        expect(points.at(-1)!.refused).toBeGreaterThan(0);
        for (const point of points) {
          const allocators = [parseHeapSpec(policy)];
          const more = { arenaBytes: point.value, now: () => 0 };
          const [study] = await studyHeap({ files: [log], allocators, ...more });
          expect([point.refused, point.left, point.operations, point.heap?.requestedBytes]).toEqual(
            [study!.failed, study!.left, study!.operations, study!.peakRequestedBytes],
          );
          expect(point.heap!.endBytes).toBeLessThanOrEqual(point.value);
        }
      }
    },
  );
});

/** Looks at its state after each operation. */
class Looking extends InProcessAdapter {
  readonly peaks = new Map<string, number>();
  moves = 0;
  #bands: readonly string[] = [];
  constructor() {
    super({ device: "none" });
  }
  override async apply(operations: readonly Operation[]): Promise<ApplyResult> {
    const answers: ApplyResult["answers"][number][] = [];
    for (const operation of operations) {
      const result = await super.apply([operation]);
      if (result.failure !== null) return { answers, failure: result.failure };
      const answer = result.answers[0]!;
      answers.push(answer);
      if (operation.op === "boot") this.#bands = Object.keys((answer.ok as Line).bands);
      for (const effect of answer.fx ?? [])
        if (effect[0] === "move") this.moves += effect[2].length;
      const state = await this.state();
      for (const band of this.#bands) {
        const { live } = state?.[band] as BandState;
        this.peaks.set(band, Math.max(this.peaks.get(band) ?? 0, live));
      }
    }
    return { answers, failure: null };
  }
}

const config = {
  ...{ page_size: 4, arena_bytes: 6656, rows: 8, row_tokens: 128 },
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 64 }],
};
const producer = { name: "test", version: "1", revision: null, dirty: null };
const head = { kind: "trace", format: "unified-trace", version: 1, producer };
/** A trace of these operations, as an allocator answers them. */
async function traceOf(
  domain: "kv" | "heap",
  own: object,
  operations: readonly Operation[],
): Promise<string> {
  const adapter = domain === "kv" ? await plain() : await heap("first-fit")();
  const opening = { run: "one", domain, config: own as RunOpening["config"], digestDepth: null };
  await adapter.open(opening);
  const { answers } = await adapter.apply(operations);
  const source = { type: "live", name: "one" };
  return writeLines([
    { ...head, created: null, note: null },
    { kind: "run", run: "one", domain, config: own, source, digest_depth: null },
    ...operations.map((operation, n) => ({ kind: "op", n, ...operation, ...answers[n] })),
    { kind: "end", run: "one", ops: operations.length },
  ]);
}

const rows = await traceOf("kv", config, [
  { op: "boot", args: {} },
  { op: "row.alloc", args: { reqs: ["r1", "r2", "r3"] } },
  { op: "row.alloc", args: { reqs: ["r4"] } },
]);

describe("by hand", () => {
  test("rows: three at once, then one more", async () => {
    const { refusals, points } = await swept(rows, "rows", [5, 4, 3, 2]);
    expect(points.map(({ refused }) => refused)).toEqual([0, 0, 1, 1]);
    // with 3 rows the second asks in vain; with 2 the first does, and then there is room for the second
    expect(refusals).toEqual([
      {
        ...{ op: "row.alloc", code: "refused_rows", values: 2, first: 3, last: 2 },
        begins: { value: 3, run: "one", n: 2, count: 1 },
      },
    ]);
    const upwards = await swept(rows, "rows", [2, 3, 4, 5]);
    expect(upwards.refusals[0]).toMatchObject({ first: 2, last: 3, begins: { value: 3, n: 2 } });
    const everywhere = await swept(rows, "rows", [2, 3]);
    expect(everywhere.refusals[0]).toMatchObject({ values: 2, begins: null });
  });

  test("a heap: the smallest arena, what is left out, peaks", async () => {
    // 32 and 48 bytes at once, then 64: blocks are whole grains of 16 bytes
    const trace = await traceOf("heap", {}, [
      { op: "heap.alloc", args: { id: "a", size_bytes: 32 } },
      { op: "heap.alloc", args: { id: "b", size_bytes: 48 } },
      { op: "heap.free", args: { id: "b" } },
      { op: "heap.free", args: { id: "a" } },
      { op: "heap.alloc", args: { id: "c", size_bytes: 64 } },
    ]);
    const start = heap("first-fit");
    const { points, refusals } = await swept(trace, "arena_bytes", [96, 80, 64, 48], { start });
    expect(points).toMatchObject([
      { refused: 0, left: 0, operations: 5, heap: { requestedBytes: 80, endBytes: 80 } },
      { refused: 0, left: 0, operations: 5, heap: { requestedBytes: 80, endBytes: 80 } },
      { refused: 1, left: 1, operations: 4, heap: { requestedBytes: 64, endBytes: 64 } },
      { refused: 2, left: 1, operations: 4, heap: { requestedBytes: 32, endBytes: 32 } },
    ]);
    for (const point of points)
      expect([point.bands, point.moves, point.invalid]).toEqual([null, null, 0]);
    expect(refusals).toEqual([
      {
        ...{ op: "heap.alloc", code: "refused_capacity", values: 2, first: 64, last: 48 },
        begins: { value: 64, run: "one", n: 1, count: 1 },
      },
    ]);
    await expect(swept(trace, "arena_bytes", [64])).rejects.toThrow(/domain heap .*heap:POLICY/);
  });

  test("values: steps, factors, both ends", () => {
    const by = (step: number, isFactor = false) => ({ by: step, isFactor });
    expect(sweepValues("rows", 1, 8, by(3))).toEqual([1, 4, 7, 8]);
    expect(sweepValues("rows", 8, 1, by(3))).toEqual([8, 5, 2, 1]);
    expect(sweepValues("rows", 3, 20, by(2, true))).toEqual([3, 6, 12, 20]);
    expect(sweepValues("rows", 20, 3, by(2, true))).toEqual([20, 10, 5, 3]);
    expect(sweepValues("rows", 1, 3, by(1.1, true))).toEqual([1, 2, 3]);
    expect(sweepValues("page_size", 3, 20, by(1))).toEqual([3, 4, 8, 16, 20]);
    expect(sweepValues("rows", 4, 4, by(1))).toEqual([4]);
    expect(() => sweepValues("rows", 0, 4, by(2, true))).toThrow(UsageError);
    expect(() => sweepValues("rows", 0, 2 ** 40, by(1))).toThrow(/at most 10000/);
  });
});

describe("what is wrong is said", () => {
  const { run, config: own } = runs[0]!;

  test("keys, runs and files", async () => {
    await expect(swept(seeded, "arena", [1])).rejects.toThrow(/--key arena names no number/);
    await expect(swept(seeded, "rows", [4], { run: "nobody" })).rejects.toThrow(/nobody/);
    await expect(swept("/nowhere.jsonl", "rows", [4])).rejects.toThrow(InputError);
    await expect(swept(seeded, "page_size", [0])).rejects.toThrow(/nothing could be asked/);
  });

  test("one value is refused, the others are swept; nothing is claimed beside it", async () => {
    const { points } = await swept(seeded, "page_size", [own.page_size, 0], { run });
    expect(points.map(({ outcome }) => outcome)).toEqual(["swept", "refused"]);
    expect(points[1]).toMatchObject({ granted: 0, message: expect.stringContaining("refused") });
  });

  test("a promise that is broken at one value", async () => {
    const crash = { kind: "crash", message: "planted" } as const;
    const start = async (): Promise<Adapter> => new FaultyAdapter(at(7, () => crash));
    const { points } = await swept(seeded, "arena_bytes", [own.arena_bytes], { run, start });
    expect(points[0]).toMatchObject({ outcome: "broken", operations: 7 });
    expect(points[0]?.message).toContain(`run ${run as string}, operation 7: crash: planted`);
  });

  test("time that is over, an interrupt, an implementation that does not start", async () => {
    const more = { run, isTimeOver: () => true };
    const result = await swept(seeded, "arena_bytes", [own.arena_bytes, 4096], more);
    expect([result.points.length, result.isPartial]).toEqual([1, true]);
    const aborted = AbortSignal.abort(new DOMException("now", "AbortError"));
    const stopped = swept(seeded, "rows", [4], { run, signal: aborted });
    await expect(stopped).rejects.toThrow("now");
    const never = new CandidateError("candidate_start", "does not start");
    const start = (): Promise<Adapter> => Promise.reject(never);
    await expect(swept(seeded, "rows", [4], { run, start })).rejects.toBe(never);
  });
});

const INPUT = fileURLToPath(
  new URL("../../../../shared/data/minimalloc/input.12.csv", import.meta.url),
);
const missing = existsSync(INPUT) ? undefined : "../shared/data is not here";
describeUnless(missing, "minimalloc input.12", () => {
  test("no arena below the most bytes alive at once has room for all", async () => {
    const [, ...table] = readFileSync(INPUT, "utf8").trim().split(/\r?\n/);
    const buffers = table.map((row) => row.split(",").map(Number));
    const alive = (time: number): number =>
      buffers.reduce(
        (sum, [, lower = 0, upper = 0, size = 0]) =>
          sum + (lower <= time && time < upper ? size : 0),
        0,
      );
    const bound = Math.max(...buffers.map(([, lower = 0]) => alive(lower)));
    const values = sweepValues("arena_bytes", bound * 4, bound / 2, { by: 1.25, isFactor: true });
    const start = heap("best-fit");
    const { points } = await swept(`minimalloc:${INPUT}`, "arena_bytes", values, { start });
    expect(points[0]).toMatchObject({ refused: 0, heap: { requestedBytes: bound } });
    for (const { value, refused, left, operations } of points) {
      if (value < bound) expect(refused).toBeGreaterThan(0);
      expect(operations + left).toBe(2 * buffers.length);
      expect(left).toBe(refused); // the free of each
    }
  });
});
