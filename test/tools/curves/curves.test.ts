// The curves of `stats` against the full states of the trace, for every band, and against the objects of a heap.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import type { CurvePoint, RunCurve } from "../../../src/tools/curves/curve.js";
import { pointShares } from "../../../src/tools/curves/curve.js";
import type { TraceCurves } from "../../../src/tools/curves/collect.js";
import { traceStats } from "../../../src/tools/stats.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { heapTrace, mixedSeeds, withStates } from "../convert/inputs.js";
import { FaultyAdapter, readLines, recorded, seeds, writeLines } from "../faulty-adapter.js";
import type { Line, Mistake } from "../faulty-adapter.js";

async function curvesOf(trace: string, run?: string): Promise<TraceCurves> {
  const { curves } = await traceStats({
    trace,
    curves: true,
    ...(run === undefined ? {} : { run }),
  });
  return curves!;
}

function linesByRun(trace: string): Map<string, Line[]> {
  const runs = new Map<string, Line[]>();
  let lines: Line[] = [];
  for (const line of readLines(trace)) {
    if (line.kind === "run") runs.set(line.run, (lines = []));
    if (line.kind !== "trace") lines.push(line);
  }
  return runs;
}

/** What the full states of a run say, one point a state. */
function pointsOfStates(lines: readonly Line[]): CurvePoint[] {
  let arena = 0;
  let boot: Line = null;
  const points: CurvePoint[] = [];
  for (const { kind, n, op, args, ok, state, config } of lines) {
    if (kind === "run") arena = config.arena_bytes;
    if (op === "arena.resize" && ok !== undefined) arena = args.arena_bytes;
    if (op === "boot") boot = ok;
    if (kind !== "state") continue;
    const bands = Object.entries<Line>(boot.bands);
    let [liveBytes, spanBytes] = [0, 0];
    for (const [name, { page_bytes: bytes }] of bands) {
      liveBytes += state[name].live * bytes;
      spanBytes += state[name].span[1] * bytes;
    }
    const parts = bands.map(([name]) => state[name].live as number);
    points.push({ n, liveBytes, spanBytes, usableBytes: arena - boot.sink_bytes, parts });
  }
  return points;
}

describe("runs of domain kv", () => {
  test("every point is the full state behind its operation, over seeds and layouts", async () => {
    const trace = await withStates(mixedSeeds(0, 10, 200));
    const lines = linesByRun(trace);
    const { curves, leftOut } = await curvesOf(trace);
    expect([curves.map(({ run }) => run), leftOut]).toEqual([[...lines.keys()], 0]);
    const met = new Set(
      curves.map(({ run }) => LAYOUTS.find((layout) => run.startsWith(`${layout}/`))),
    );
    expect(met.size).toBe(LAYOUTS.length);
    for (const { run, parts, points, peaks, parted, operations } of curves) {
      const right = pointsOfStates(lines.get(run)!);
      expect([parted, operations]).toEqual([null, right.length]);
      const byNumber = new Map(right.map((point) => [point.n, point]));
      for (const point of points) expect(point).toEqual(byNumber.get(point.n));
      expect(points.at(-1)).toEqual(right.at(-1));
      for (const { liveBytes, parts: pages } of points) {
        const bytes = pages.map((count, index) => count * parts[index]!.pageBytes!);
        expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(liveBytes);
      }
      const peakOf = (of: (point: CurvePoint) => number): { value: number; n: number } => {
        const value = Math.max(...right.map(of));
        return { value, n: right.find((point) => of(point) === value)!.n };
      };
      expect(peaks.liveBytes).toEqual(peakOf(({ liveBytes }) => liveBytes));
      expect(peaks.occupancy).toEqual(peakOf((point) => pointShares(point).occupancy!));
      expect(peaks.fragmentation).toEqual(peakOf((point) => pointShares(point).fragmentation!));
      const { value, n } = peakOf((point) => -pointShares(point).capacity!);
      expect(peaks.capacity).toEqual({ value: 0 - value, n });
      expect(peaks.parts).toEqual(parts.map((_, index) => peakOf((point) => point.parts[index]!)));
    }
  });

  test("where answers are not this checkout's, live pages go on and a full state tells all", async () => {
    // from operation 20 on every take is refused: fewer pages are live than this checkout would have
    const mistake: Mistake = (n, { op }) =>
      n >= 20 && (op === "tokens.extend" || op === "tokens.decode")
        ? { err: { code: "refused_capacity", demand: { full: 1 }, limit: "bytes" } }
        : null;
    const plain = await recorded(seeds(0, 2), new FaultyAdapter(mistake));
    const { curves } = await curvesOf(plain);
    expect(curves).toHaveLength(2);
    for (const { parted, points, peaks } of curves) {
      expect(parted).toBeGreaterThanOrEqual(20);
      for (const { n, spanBytes } of points)
        expect([n, spanBytes === null]).toEqual([n, n >= parted!]);
      expect(points.at(-1)!.n).toBeGreaterThan(parted!);
      expect(peaks.liveBytes.value).toBeGreaterThan(0);
    }
    // what really ran took more pages than the trace grants; a point behind a state is the state all the same
    const stated = await withStates(seeds(0, 1), new FaultyAdapter(mistake));
    const [told] = (await curvesOf(stated)).curves;
    const right = new Map(
      pointsOfStates([...linesByRun(stated).values()][0]!).map((point) => [point.n, point]),
    );
    expect(told!.parted).not.toBeNull();
    for (const point of told!.points) expect(point).toEqual(right.get(point.n));
  });

  test("live pages that follow from the lines alone are those of the full states", async () => {
    // a question is answered otherwise, which changes nothing of what is allocated
    const mistake: Mistake = (n, { op }, { ok }) =>
      n >= 10 && op === "ask.fits" && ok !== undefined
        ? { ok: { fits: !(ok as { readonly fits: boolean }).fits } }
        : null;
    const stated = await withStates(mixedSeeds(0, 10, 150), new FaultyAdapter(mistake));
    const lines = linesByRun(stated);
    const bare = writeLines(readLines(stated).filter(({ kind }) => kind !== "state"));
    let blind = 0;
    for (const { run, parted, points } of (await curvesOf(bare)).curves) {
      const right = new Map(pointsOfStates(lines.get(run)!).map((point) => [point.n, point]));
      for (const { spanBytes, ...point } of points) {
        const { spanBytes: span, ...told } = right.get(point.n)!;
        expect(point).toEqual(told);
        expect(spanBytes).toBe(parted === null || point.n < parted ? span : null);
        if (spanBytes === null) blind += 1;
      }
    }
    expect(blind).toBeGreaterThan(100);
  });

  test("a run that goes on from a state begins with it", async () => {
    const trace = await withStates(mixedSeeds(1, 2, 80));
    const [name, lines] = [...linesByRun(trace)][0]!;
    const tail = [
      readLines(trace)[0],
      { ...lines[0], digest_depth: null, starts_at: 40, dropped: 40 },
      lines.find(({ kind, n }) => kind === "state" && n === 39),
      ...lines
        .filter(({ kind, n }) => kind === "op" && n > 39)
        .map(({ digest: _, ...line }) => line),
    ];
    const path = writeLines([...tail, { kind: "end", run: name, ops: tail.length - 3 }]);
    const [curve] = (await curvesOf(path)).curves;
    const right = new Map(pointsOfStates(lines).map((point) => [point.n, point]));
    expect(curve!.points[0]!.n).toBe(40);
    for (const point of curve!.points) expect(point).toEqual(right.get(point.n));
    expect(curve!.points.at(-1)).toEqual([...right.values()].at(-1));
  });

  test("without them nothing is followed, and of many runs those with the most live bytes are kept", async () => {
    const trace = await recorded(mixedSeeds(0, 36, 12));
    expect((await traceStats({ trace })).curves).toBeNull();
    const { curves, leftOut } = await curvesOf(trace);
    expect([curves.length, leftOut]).toEqual([32, 4]);
    const all: RunCurve[] = [];
    const order = [...linesByRun(trace).keys()];
    for (const run of order) all.push(...(await curvesOf(trace, run)).curves);
    const least = Math.min(...curves.map(({ peaks }) => peaks.liveBytes.value));
    const dropped = all.filter(({ run }) => !curves.some((curve) => curve.run === run));
    expect(dropped).toHaveLength(4);
    for (const { peaks } of dropped) expect(peaks.liveBytes.value).toBeLessThanOrEqual(least);
    const kept = curves.map(({ run }) => order.indexOf(run));
    expect(kept).toEqual([...kept].sort((left, right) => left - right));
  });
});

describe("runs of domain heap", () => {
  test("every point is what its objects come to, over seeds", async () => {
    for (let seed = 0; seed < 12; seed++) {
      const { lines, right } = heapRun(new Prng(seed, 8), seed % 2 === 0 ? 4096 : null);
      const [curve] = (await curvesOf(writeLines(lines))).curves;
      expect(curve!.domain).toBe("heap");
      for (const point of curve!.points) expect(point).toEqual(right[point.n]);
      expect(curve!.points.at(-1)).toEqual(right.at(-1));
      expect(curve!.peaks.liveBytes.value).toBe(Math.max(...right.map((each) => each.liveBytes)));
      expect(curve!.peaks.parts).toEqual([
        {
          value: right.at(-1)!.parts[0],
          n: right.find((each) => each.parts[0] === right.at(-1)!.parts[0])!.n,
        },
      ]);
    }
  });

  test("an object that lies nobody knows where leaves no span", async () => {
    const lines = readLines(heapTrace());
    const [curve] = (await curvesOf(writeLines(lines))).curves;
    expect(curve!.points.map(({ spanBytes }) => spanBytes)).toEqual([0, 0, 48, 64, 128, 128]);
    const blind = lines.map((line) => (line.n === 3 ? { ...line, ok: {} } : line));
    const [other] = (await curvesOf(writeLines(blind))).curves;
    expect(other!.points.map(({ spanBytes }) => spanBytes)).toEqual([0, 0, 48, null, null, 128]);
    expect(other!.points.map(({ parts }) => parts[0])).toEqual([0, 1, 1, 1, 1, 1]);
  });
});

/** A run of a heap with two pools and addresses drawn at random, with what each operation leaves, by adding it all up. */
function heapRun(random: Prng, arena: number | null): { lines: Line[]; right: CurvePoint[] } {
  const live = new Map<string, { pool: string; bytes: number; end: number }>();
  const right: CurvePoint[] = [];
  const ops: Line[] = [];
  let failed = 0;
  const opLine = (op: string, args: Line, answer: Line): void => {
    ops.push({ kind: "op", n: ops.length, op, args, ...answer });
    const ends: Record<string, number> = {};
    let liveBytes = 0;
    for (const { pool, bytes, end } of live.values()) {
      liveBytes += bytes;
      ends[pool] = Math.max(ends[pool] ?? 0, end);
    }
    const spanBytes = Object.values(ends).reduce((sum, end) => sum + end, 0);
    right.push({ n: right.length, liveBytes, spanBytes, usableBytes: arena, parts: [failed] });
  };
  for (let step = 0; step < 300; step++) {
    const [id] = [...live.keys()].slice(random.below(Math.max(1, live.size)));
    const bytes = random.between(1, 64);
    const from = random.between(0, 2000);
    if (random.chance(1, 10)) {
      failed += 1;
      opLine(
        "heap.alloc",
        { id: `x${step}`, size_bytes: bytes },
        { err: { code: "refused_capacity" } },
      );
    } else if (id === undefined || random.chance(1, 2)) {
      const pool = random.chance(1, 3) ? "p" : "";
      live.set(`o${step}`, { pool, bytes, end: from + bytes });
      const named = pool === "" ? {} : { pool };
      opLine(
        "heap.alloc",
        { id: `o${step}`, size_bytes: bytes, ...named },
        { ok: { address_offset: from } },
      );
    } else if (random.chance(1, 3)) {
      live.set(id, { ...live.get(id)!, bytes, end: from + bytes });
      opLine("heap.realloc", { id, size_bytes: bytes }, { ok: { address_offset: from } });
    } else {
      live.delete(id);
      opLine("heap.free", { id }, { ok: {} });
    }
  }
  const [header, run] = readLines(heapTrace());
  const config = arena === null ? {} : { arena_bytes: arena };
  const lines = [
    header,
    { ...run, config },
    ...ops,
    { kind: "end", run: run.run, ops: ops.length },
  ];
  return { lines, right };
}
