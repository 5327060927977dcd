// Goals 7 and 8: what recording adds to an operation, and what a digest update costs.
import { performance } from "node:perf_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LaneSum } from "../dist/base/digest.js";
import { KVStorage } from "../dist/kv/storage.js";
import { createTraceWriter } from "../dist/trace/writer.js";
import { BENCH_CONFIG, benchOperations } from "./bench-trace.mjs";

const OPERATIONS = 200_000;
const CELLS = 4_000_000;

/** Nanoseconds an operation, best of three: the machine's noise only adds. */
function timed(work, count) {
  let best = Infinity;
  for (let round = 0; round < 3; round++) {
    const before = performance.now();
    work();
    best = Math.min(best, ((performance.now() - before) * 1e6) / count);
  }
  return best;
}

/** Prints the rows through `goal`. */
export function recorderRows(goal) {
  const operations = [...benchOperations(1, OPERATIONS)];
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-recorder-"));
  const bare = timed(() => {
    const storage = new KVStorage(BENCH_CONFIG, { digestDepth: null });
    for (const operation of operations) storage.apply(operation);
  }, OPERATIONS);
  const off = timed(() => {
    const storage = new KVStorage(BENCH_CONFIG, { digestDepth: null });
    for (const operation of operations) {
      storage.apply(operation);
      storage.takeDigest();
    }
  }, OPERATIONS);
  const text = timed(() => {
    const storage = new KVStorage(BENCH_CONFIG, { digestDepth: "layout" });
    const writer = createTraceWriter(join(folder, "out.jsonl"));
    writer.header({ name: "bench", version: "0", revision: null, dirty: false });
    let n = 0;
    for (const operation of operations) {
      const answer = storage.apply(operation);
      const digest = storage.takeDigest();
      writer.op(n, operation, digest === undefined ? answer : { ...answer, digest });
      n += 1;
    }
    writer.commit();
  }, OPERATIONS);
  rmSync(folder, { recursive: true, force: true });
  goal(
    7,
    "recorder off, over the bare allocator",
    `${(off / bare).toFixed(3)}x`,
    "<= 1.05x",
    off <= 1.05 * bare,
  );
  const added = (text - bare) / 1000;
  goal(
    7,
    "recorder as text with digest, added to an operation",
    `${added.toFixed(2)} us, ${Math.round(1e6 / text)}k/s`,
    "<= 8 us and >= 150k/s",
    added <= 8 && 1e9 / text >= 150_000,
  );
  const small = timed(() => cells(4096), CELLS);
  const large = timed(() => cells(1 << 20), CELLS);
  goal(
    8,
    "digest update of a changed page at 1M pages",
    `${large.toFixed(1)} ns, ${(large / small).toFixed(2)}x of 4K pages`,
    "<= 30 ns and <= 1.5x",
    large <= 30 && large <= 1.5 * small,
  );
}

/** One cell out and one in for each changed page, as a rebind does. */
function cells(pages) {
  const sum = new LaneSum();
  const places = new Int32Array(pages);
  for (let i = 0; i < CELLS; i++) {
    const page = Math.imul(i, 0x9e3779b1) & (pages - 1);
    sum.remove(17, page, places[page]);
    places[page] = i & 0xfffff;
    sum.add(17, page, places[page]);
  }
  return sum.a;
}
