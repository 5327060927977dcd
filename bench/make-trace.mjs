// Writes the bench trace: node bench/make-trace.mjs OUT [OPERATIONS] [light|layout] [SEED]
import { KVStorage } from "../dist/kv/storage.js";
import { createTraceWriter } from "../dist/trace/writer.js";
import { BENCH_CONFIG, benchOperations } from "./bench-trace.mjs";

const PRODUCER = { name: "unified-trace", version: "0.1.0", revision: null, dirty: false };

/**
 * Records the bench operations and writes them as one run.
 * @param alter - changes an answer on its way into the file, to plant a difference
 */
export function writeBenchTrace(path, operations, depth, seed = 1, alter = (n, answer) => answer) {
  const storage = new KVStorage(BENCH_CONFIG, { digestDepth: depth });
  const writer = createTraceWriter(path);
  writer.header(PRODUCER);
  const source = { type: "workload", name: "bench", seed, ops: operations };
  writer.run({ run: "bench", domain: "kv", config: BENCH_CONFIG, source, digest_depth: depth });
  let n = 0;
  for (const operation of benchOperations(seed, operations)) {
    const answer = storage.apply(operation);
    if (answer.err !== undefined && n > 1)
      throw new Error(`operation ${n} was refused: ${JSON.stringify(answer.err)}`);
    const digest = storage.takeDigest();
    writer.op(n, operation, alter(n, digest === undefined ? answer : { ...answer, digest }));
    n += 1;
  }
  writer.end("bench", n, storage.endDigest());
  writer.commit();
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [out, operations = "1000000", depth = "layout", seed = "1"] = process.argv.slice(2);
  writeBenchTrace(out, Number(operations), depth, Number(seed));
}
