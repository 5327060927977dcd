// The bench trace: operations of domain kv in five kinds (extend 10 %, decode 40 %, free 20 %, retire 10 %,
// questions 20 %), batches of 1 to 4, on two ends (full and window). A generator: lengths are its own book, so it
// needs no answers; a refused extend would break that book and is an error.
import { Prng } from "../dist/base/prng.js";

export const BENCH_CONFIG = {
  page_size: 16,
  arena_bytes: 256 * 1024 * 1024,
  sub_pools: [
    { name: "window_128", kind: "mha", window: 128, unit_bytes: 512 },
    { name: "full", kind: "mha", unit_bytes: 2048 },
  ],
  rows: 64,
  row_tokens: 8192,
  overlap: true,
};

const KINDS = ["extend", "decode", "free", "retire", "question"];
const WEIGHTS = [10, 40, 20, 10, 20];

/** Operations after boot and the opening of all rows, `count` in all. */
export function* benchOperations(seed, count) {
  const prng = new Prng(seed, 7);
  const names = Array.from({ length: BENCH_CONFIG.rows }, (_, index) => `r${index + 1}`);
  const lengths = new Map(names.map((name) => [name, 0]));
  yield { op: "boot", args: {} };
  yield { op: "row.alloc", args: { reqs: names } };
  for (let n = 2; n < count; n++) yield next(prng, names, lengths);
}

function next(prng, names, lengths) {
  switch (KINDS[prng.weighted(WEIGHTS)]) {
    case "extend":
      return { op: "tokens.extend", args: { batch: extendBatch(prng, names, lengths) } };
    case "decode":
      return { op: "tokens.decode", args: { batch: decodeBatch(prng, names, lengths) } };
    case "free":
      return freeTail(prng, names, lengths);
    case "retire": {
      const req = prng.pick(names);
      return { op: "window.retire", args: { req, len: lengths.get(req) } };
    }
    default:
      return question(prng, names, lengths);
  }
}

function distinct(prng, names) {
  const picked = new Set();
  const size = prng.between(1, 4);
  while (picked.size < size) picked.add(prng.pick(names));
  return [...picked];
}

function extendBatch(prng, names, lengths) {
  return distinct(prng, names).map((req) => {
    const from = lengths.get(req);
    const to = Math.min(from + prng.between(1, 96), BENCH_CONFIG.row_tokens);
    lengths.set(req, to);
    return { req, from, to };
  });
}

function decodeBatch(prng, names, lengths) {
  return distinct(prng, names).flatMap((req) => {
    if (lengths.get(req) >= BENCH_CONFIG.row_tokens) return [];
    lengths.set(req, lengths.get(req) + 1);
    return [{ req, len: lengths.get(req) }];
  });
}

function freeTail(prng, names, lengths) {
  const req = prng.pick(names);
  const to = lengths.get(req);
  const from = Math.max(0, to - prng.between(1, 140));
  lengths.set(req, from);
  return { op: "tokens.free", args: { req, from, to, bands: "all" } };
}

function question(prng, names, lengths) {
  const draw = prng.below(4);
  if (draw === 0) {
    const req = prng.pick(names);
    return {
      op: "ask.translate",
      args: { req, from: Math.max(0, lengths.get(req) - 64), to: lengths.get(req) },
    };
  }
  const demand = { window_128: prng.between(1, 4000), full: prng.between(1, 9000) };
  return draw === 1 ? { op: "ask.plan", args: { demand } } : { op: "ask.fits", args: { demand } };
}
