// Traces to convert, and conversions of them.
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { convertTrace } from "../../../src/tools/convert/convert.js";
import type { ConvertOptions, ConvertResult } from "../../../src/tools/convert/convert.js";
import type { ConvertFormat } from "../../../src/tools/convert/target.js";
import { record } from "../../../src/tools/record.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { seededWorkload, WEIGHT_NAMES } from "../../../src/workload/seeded.js";
import type { Workload } from "../../../src/workload/workload.js";
import { freshPath, writeLines } from "../faulty-adapter.js";

const SUFFIXES = {
  jsonl: "out.jsonl",
  csv: "out.csv",
  parquet: "out.parquet",
  perfetto: "out.json",
} as const;

/** Converts into a fresh file. */
export async function converted(
  traces: readonly string[],
  format: ConvertFormat,
  options: Partial<ConvertOptions> = {},
): Promise<{ path: string; result: ConvertResult }> {
  const path = options.out ?? freshPath(SUFFIXES[format]);
  const result = await convertTrace({ traces, format, out: path, ...options });
  return { path, result };
}

/** Seeded runs over all layouts and weights. */
export function mixedSeeds(from: number, to: number, ops: number): Workload[] {
  return Array.from({ length: to - from }, (_, index) => {
    const seed = from + index;
    const layout = LAYOUTS[seed % LAYOUTS.length]!;
    const weights = WEIGHT_NAMES[seed % WEIGHT_NAMES.length]!;
    return seededWorkload({ seed, ops, layout, pageSize: seed % 3 === 0 ? 4 : 16, weights });
  });
}

/** Records with a full state after every operation. */
export async function withStates(
  workloads: Iterable<Workload>,
  adapter: Adapter = new InProcessAdapter({ device: "none" }),
): Promise<string> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const start = async (): Promise<Adapter> => adapter;
  await record({ workloads, start, writer, digestDepth: "layout", stateEvery: 1 });
  writer.commit();
  return path;
}

const producer = { name: "t", version: "1", revision: null, dirty: null };

/** A small trace of a heap, with texts that no table likes. */
export function heapTrace(run = "heap"): string {
  const source = { type: "import", name: 'a "log", of\r\nsomebody' };
  const ops = [
    { op: "pool.make", args: { pool: "p,1", type: "pool" }, ok: {} },
    {
      op: "heap.alloc",
      args: { id: "h1", size_bytes: Number.MAX_SAFE_INTEGER, pool: "p,1" },
      err: { code: "refused_capacity" },
    },
    { op: "heap.alloc", args: { id: "h2", size_bytes: 48 }, ok: { address_offset: 0 } },
    { op: "heap.alloc", args: { id: "h3", size_bytes: 16 }, ok: { address_offset: 48 } },
    {
      op: "heap.realloc",
      args: { id: "h2", size_bytes: 64 },
      ok: { address_offset: 64 },
      site: '=cmd("x")',
      at_us: Number.MAX_SAFE_INTEGER,
    },
    { op: "heap.free", args: { id: "h3" }, ok: {}, message: "two\nlines" },
  ];
  return writeLines([
    {
      ...{ kind: "trace", format: "unified-trace", version: 1, producer },
      ...{ created: null, note: null },
    },
    { kind: "run", run, domain: "heap", config: {}, source, digest_depth: null },
    ...ops.map((line, n) => {
      const { op, args, ...answer } = line;
      return { kind: "op", n, op, args, ...answer };
    }),
    { kind: "end", run, ops: ops.length },
  ]);
}
