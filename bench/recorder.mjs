// Goals 7 and 8: what recording adds to an operation, and what a digest update costs.
import { performance } from "node:perf_hooks";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KVStorage } from "../dist/kv/storage.js";
import { createTraceWriter } from "../dist/trace/writer.js";
import { BENCH_CONFIG, benchOperations } from "./bench-trace.mjs";

const OPERATIONS = 200_000;
const PAGE = 16;
const MANY = 1000; // pages of one extend or free
const SIZES = [4096, 1 << 20]; // pages of an arena
const ROUNDS = 2000;

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
  digestRow(goal);
}

/**
 * What the running digest adds to a page that is bound or freed: the same extends and frees with the digest and
 * without, on two arenas, in turns. Every page is used once beforehand, so that no chain pays for fresh memory.
 */
function digestRow(goal) {
  const chains = SIZES.flatMap((pages) => [null, "layout"].map((depth) => cycles(pages, depth)));
  const [bareSmall, small, bareLarge, large] = mediansInTurns(chains, ROUNDS);
  const atSmall = (small - bareSmall) / (2 * MANY);
  const atLarge = (large - bareLarge) / (2 * MANY);
  goal(
    8,
    "digest update of a changed page at 1M pages",
    `${atLarge.toFixed(1)} ns, ${(atLarge / atSmall).toFixed(2)}x of 4K pages (${atSmall.toFixed(1)} ns)`,
    "<= 30 ns and <= 1.5x",
    atLarge <= 30 && atLarge <= 1.5 * atSmall,
  );
}

/** One extend and one free of `MANY` pages on a chain of `pages` pages. */
function cycles(pages, digestDepth) {
  const config = {
    page_size: PAGE,
    arena_bytes: pages * PAGE * 64,
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 64 }],
    rows: 2,
    row_tokens: 1 << 20,
    overlap: true,
  };
  const storage = new KVStorage(config, { digestDepth });
  const must = (op, args) => {
    const answer = storage.apply({ op, args });
    if (answer.err !== undefined) throw new Error(JSON.stringify(answer.err));
    storage.takeDigest();
  };
  must("boot", {});
  must("row.alloc", { reqs: ["r0"] });
  const batch = [{ req: "r0", from: 0, to: MANY * PAGE }];
  const free = { req: "r0", from: 0, to: MANY * PAGE, bands: "all" };
  const cycle = () => {
    must("tokens.extend", { batch });
    must("tokens.free", free);
  };
  for (let used = 0; used < pages; used += MANY) cycle();
  return cycle;
}

/** Median nanoseconds of each piece of work, the pieces taken in turns. */
function mediansInTurns(pieces, rounds) {
  const times = pieces.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, work] of pieces.entries()) {
      const before = performance.now();
      work();
      times[index].push((performance.now() - before) * 1e6);
    }
  }
  return times.map((list) => list.sort((left, right) => left - right)[rounds >> 1]);
}
