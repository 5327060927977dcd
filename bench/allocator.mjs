// The allocator itself, no tracing and no device: figures of single operations, and how they grow with the arena.
//
// The figures asked for are those of one band at page size 16, which a comparable allocator was measured with; the same
// operations over two bands, which bind every page twice, are printed beside them.
import { performance } from "node:perf_hooks";
import { KVStorage } from "../dist/kv/storage.js";

const PAGE = 16;
const MANY = 1000; // pages of one extend or free
const FULL = { name: "full", kind: "mha", unit_bytes: 64 };
const WINDOW = { name: "window_128", kind: "mha", window: 128, unit_bytes: 32 };

function config(pages, pools) {
  const unit = pools.reduce((sum, pool) => sum + pool.unit_bytes, 0);
  return {
    page_size: PAGE,
    arena_bytes: pages * PAGE * unit,
    sub_pools: pools,
    rows: 512,
    row_tokens: 1 << 20,
    overlap: true,
  };
}

function must(answer) {
  if (answer.err !== undefined) throw new Error(JSON.stringify(answer.err));
  return answer;
}

/** Median microseconds of `work` over rounds; `reset` puts things back outside the time. */
function micros(work, reset = () => {}, rounds = 400) {
  return medians([{ work, reset }], rounds)[0];
}

/** Medians of several pieces of work, taken in turns, so that what the machine does meanwhile meets all alike. */
function medians(pieces, rounds) {
  const times = pieces.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { work, reset }] of pieces.entries()) {
      const before = performance.now();
      work(round);
      times[index].push((performance.now() - before) * 1000);
      reset?.(round);
    }
  }
  return times.map((list) => list.sort((left, right) => left - right)[rounds >> 1]);
}

/** A chain with 256 requests of 64 tokens each and `r0`, empty. */
class Chain {
  constructor(pages, pools = [FULL]) {
    this.storage = new KVStorage(config(pages, pools), { digestDepth: null });
    const boot = must(this.storage.apply({ op: "boot", args: {} }));
    this.ids = boot.ok.bands.full.pages;
    this.reqs = Array.from({ length: 257 }, (_, index) => `r${index}`);
    must(this.storage.apply({ op: "row.alloc", args: { reqs: this.reqs } }));
    const batch = this.reqs.slice(1).map((req) => ({ req, from: 0, to: 64 }));
    must(this.storage.apply({ op: "tokens.extend", args: { batch } }));
    this.len = 64;
    this.extendOp = {
      op: "tokens.extend",
      args: { batch: [{ req: "r0", from: 0, to: MANY * PAGE }] },
    };
    this.freeOp = {
      op: "tokens.free",
      args: { req: "r0", from: 0, to: MANY * PAGE, bands: "all" },
    };
  }
  decode(requests) {
    this.len += 1;
    const batch = this.reqs.slice(1, requests + 1).map((req) => ({ req, len: this.len }));
    must(this.storage.apply({ op: "tokens.decode", args: { batch } }));
  }
  extend() {
    must(this.storage.apply(this.extendOp));
  }
  free() {
    must(this.storage.apply(this.freeOp));
  }
  /** Hands every id out once: the first use of a page of the process's memory is the operating system's work. */
  warm() {
    for (let used = 0; used < this.ids; used += MANY) {
      this.extend();
      this.free();
    }
  }
}

function bareLoop(count) {
  const cells = new Int32Array(count);
  return micros(() => {
    for (let i = 0; i < count; i++) cells[i] = i;
  });
}

/** Microseconds of an extend and of a free of 1,000 pages. */
function extendAndFree(chain) {
  chain.warm();
  const extend = micros(
    () => chain.extend(),
    () => chain.free(),
  );
  chain.extend();
  const free = micros(
    () => chain.free(),
    () => chain.extend(),
  );
  return { extend, free };
}

/** Prints the rows through `goal`. */
export function allocatorRows(goal) {
  const row = (text, value, limit, bare) =>
    goal(
      "allocator",
      text,
      `${value.toFixed(2)} us${bare === undefined ? "" : `, ${(value / bare).toFixed(0)}x a bare loop`}`,
      `<= ${limit} us`,
      value <= limit,
    );
  const bare256 = bareLoop(256);
  const bare1000 = bareLoop(MANY);
  const one = new Chain(8000);
  row(
    "decode step of 256 requests",
    micros(() => one.decode(256)),
    30,
    bare256,
  );
  const { extend, free } = extendAndFree(new Chain(8000));
  row("extend of 1,000 pages", extend, 50, bare1000);
  row("free of 1,000 pages", free, 40, bare1000);
  const two = new Chain(8000, [WINDOW, FULL]);
  const twice = extendAndFree(two);
  console.log(
    `       the same in two bands: ${twice.extend.toFixed(2)} and ${twice.free.toFixed(2)} us`,
  );
  questionRows(row, two);
  growthRows(goal);
}

function questionRows(row, { storage, extendOp, freeOp }) {
  const ask = { op: "ask.fits", args: { demand: { window_128: 10, full: 100 } } };
  const asked =
    micros(() => {
      for (let i = 0; i < 100; i++) storage.apply(ask);
    }) / 100;
  row("ask.fits with an unchanged snapshot", asked, 1);
  const asksAfter = micros(
    () => storage.apply(ask),
    (round) => {
      must(storage.apply(round % 2 === 0 ? freeOp : extendOp)); // it holds the pages at first
    },
    200,
  );
  row("ask.fits after a change", asksAfter, 10);
  const idle =
    micros(() => {
      for (let i = 0; i < 100; i++) storage.apply({ op: "chain.flush", args: {} });
    }) / 100;
  row("idle flush", idle, 1);
}

/** The same operations on two arenas, in turns. */
function growthRows(goal) {
  const chains = [4000, 2_000_000].map((pages) => new Chain(pages, [WINDOW, FULL]));
  for (const chain of chains) chain.warm();
  const found = {
    decode: medians(
      chains.map((chain) => ({ work: () => chain.decode(64) })),
      200,
    ),
    extend: medians(
      chains.map((chain) => ({ work: () => chain.extend(), reset: () => chain.free() })),
      400,
    ),
  };
  for (const chain of chains) chain.extend();
  found.free = medians(
    chains.map((chain) => ({ work: () => chain.free(), reset: () => chain.extend() })),
    400,
  );
  for (const [name, [small, big]] of Object.entries(found)) {
    const growth = big / small;
    goal(
      "allocator",
      `${name} at 2,000,000 pages against 4,000`,
      `${growth.toFixed(2)}x`,
      "<= 1.5x",
      growth <= 1.5,
    );
  }
}
