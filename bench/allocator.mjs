// The allocator itself, no tracing and no device: figures of single operations, and how they grow with the arena.
import { performance } from "node:perf_hooks";
import { KVStorage } from "../dist/kv/storage.js";

const PAGE = 16;

function config(pages) {
  return {
    page_size: PAGE,
    arena_bytes: pages * PAGE * 64 + pages * PAGE * 32,
    sub_pools: [
      { name: "window_128", kind: "mha", window: 128, unit_bytes: 32 },
      { name: "full", kind: "mha", unit_bytes: 64 },
    ],
    rows: 512,
    row_tokens: 1 << 20,
    overlap: true,
  };
}

/** Median microseconds of `work` over rounds; `reset` puts things back outside the time. */
function micros(work, reset = () => {}, rounds = 400) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const before = performance.now();
    work(round);
    times.push((performance.now() - before) * 1000);
    reset(round);
  }
  return times.sort((left, right) => left - right)[Math.floor(rounds / 2)];
}

function must(answer) {
  if (answer.err !== undefined) throw new Error(JSON.stringify(answer.err));
  return answer;
}

/** A chain with 256 requests of 64 tokens each. */
function filled(pages) {
  const storage = new KVStorage(config(pages), { digestDepth: null });
  must(storage.apply({ op: "boot", args: {} }));
  const reqs = Array.from({ length: 257 }, (_, index) => `r${index}`);
  must(storage.apply({ op: "row.alloc", args: { reqs } }));
  const batch = reqs.slice(1).map((req) => ({ req, from: 0, to: 64 }));
  must(storage.apply({ op: "tokens.extend", args: { batch } }));
  return { storage, reqs };
}

function bareLoop(count) {
  const cells = new Int32Array(count);
  return micros(() => {
    for (let i = 0; i < count; i++) cells[i] = i;
  });
}

function measured(pages) {
  const { storage, reqs } = filled(pages);
  let len = 64;
  const decode = micros(
    () => {
      len += 1;
      must(
        storage.apply({
          op: "tokens.decode",
          args: { batch: reqs.slice(1, 65).map((req) => ({ req, len })) },
        }),
      );
    },
    undefined,
    200,
  );
  const to = 1000 * PAGE;
  const extendArgs = { batch: [{ req: "r0", from: 0, to }] };
  const freeArgs = { req: "r0", from: 0, to, bands: "all" };
  const extend = micros(
    () => must(storage.apply({ op: "tokens.extend", args: extendArgs })),
    () => must(storage.apply({ op: "tokens.free", args: freeArgs })),
  );
  must(storage.apply({ op: "tokens.extend", args: extendArgs }));
  const free = micros(
    () => must(storage.apply({ op: "tokens.free", args: freeArgs })),
    () => must(storage.apply({ op: "tokens.extend", args: extendArgs })),
  );
  return { decode, extend, free, storage };
}

/** Prints the rows through `goal`. */
export function allocatorRows(goal) {
  const { storage, reqs } = filled(8000);
  // The first free needs pages to free.
  const large = filled(8000);
  must(
    large.storage.apply({
      op: "tokens.extend",
      args: { batch: [{ req: "r0", from: 0, to: 1000 * PAGE }] },
    }),
  );
  let len = 64;
  const bare256 = bareLoop(256);
  const bare1000 = bareLoop(1000);
  const decode = micros(() => {
    len += 1;
    must(
      storage.apply({
        op: "tokens.decode",
        args: { batch: reqs.slice(1).map((req) => ({ req, len })) },
      }),
    );
  });
  const row = (text, value, limit, bare) =>
    goal(
      "allocator",
      text,
      `${value.toFixed(2)} us${bare === undefined ? "" : `, ${(value / bare).toFixed(0)}x a bare loop`}`,
      `<= ${limit} us`,
      value <= limit,
    );
  row("decode step of 256 requests", decode, 30, bare256);
  const to = 1000 * PAGE;
  const extendArgs = { batch: [{ req: "r0", from: 0, to }] };
  const freeArgs = { req: "r0", from: 0, to, bands: "all" };
  const free = micros(
    () => must(large.storage.apply({ op: "tokens.free", args: freeArgs })),
    () => must(large.storage.apply({ op: "tokens.extend", args: extendArgs })),
  );
  must(large.storage.apply({ op: "tokens.free", args: freeArgs }));
  const extend = micros(
    () => must(large.storage.apply({ op: "tokens.extend", args: extendArgs })),
    () => must(large.storage.apply({ op: "tokens.free", args: freeArgs })),
  );
  row("extend of 1,000 pages in two bands", extend, 50, bare1000);
  row("free of 1,000 pages in two bands", free, 40, bare1000);
  const ask = { op: "ask.fits", args: { demand: { window_128: 10, full: 100 } } };
  const asked =
    micros(() => {
      for (let i = 0; i < 100; i++) storage.apply(ask);
    }) / 100;
  row("ask.fits with an unchanged snapshot", asked, 1);
  const asksAfter = micros(
    () => large.storage.apply(ask),
    (round) => {
      const change =
        round % 2 === 0
          ? { op: "tokens.extend", args: extendArgs }
          : { op: "tokens.free", args: freeArgs };
      must(large.storage.apply(change));
    },
    200,
  );
  row("ask.fits after a change", asksAfter, 10);
  const idle =
    micros(() => {
      for (let i = 0; i < 100; i++) storage.apply({ op: "chain.flush", args: {} });
    }) / 100;
  row("idle flush", idle, 1);
  const small = measured(4000);
  const big = measured(2_000_000);
  for (const name of ["decode", "extend", "free"]) {
    const growth = big[name] / small[name];
    goal(
      "allocator",
      `${name} at 2,000,000 pages against 4,000`,
      `${growth.toFixed(2)}x`,
      "<= 1.5x",
      growth <= 1.5,
    );
  }
}
