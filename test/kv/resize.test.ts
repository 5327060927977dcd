// arena.resize: all or nothing, and only while nothing is live.
import { expect, test } from "vitest";
import type { Answer, DirectConfig } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 40,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 4 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: 2,
  row_tokens: 64,
};

function booted(): KVStorage {
  const storage = new KVStorage(CONFIG, { digestDepth: "deep" });
  storage.apply({ op: "boot", args: {} });
  storage.takeDigest();
  return storage;
}

function resize(storage: KVStorage, bytes: number, failChunk?: number): Answer {
  const fail = failChunk === undefined ? {} : { fail_chunk: failChunk };
  return storage.apply({
    op: "arena.resize",
    args: { arena_bytes: bytes, chunk_bytes: 8, ...fail },
  });
}

function most(storage: KVStorage): number {
  let pages = 0;
  for (;;) {
    const answer = storage.apply({ op: "ask.fits", args: { demand: { full: pages + 1 } } });
    if (!(answer.ok as { fits: boolean }).fits) return pages;
    pages += 1;
  }
}

// B064: growth by three chunks of which the second fails.
test("growth that fails halfway leaves everything as it was, and a retry succeeds", () => {
  const storage = booted();
  const before = JSON.stringify(storage.state());
  expect(most(storage)).toBe(9); // 10 pages, the sink's one reserved
  expect(resize(storage, 64, 2).err).toEqual({ code: "refused_backing" });
  expect(storage.takeDigest()).toBeUndefined();
  const after = JSON.parse(JSON.stringify(storage.state())) as {
    forwards: { x_more: { clock: number } };
  };
  after.forwards.x_more.clock = (JSON.parse(before) as typeof after).forwards.x_more.clock;
  expect(JSON.stringify(after)).toBe(before);
  expect(most(storage)).toBe(9);
  expect(resize(storage, 64, 4).ok).toMatchObject({ bands: { full: { pages: 16 } } }); // three chunks: the fourth is not asked for
  expect(most(storage)).toBe(15);
});

test("an arena in use keeps its size; an open row does not use it", () => {
  const storage = booted();
  storage.apply({ op: "row.alloc", args: { reqs: ["r1"] } });
  expect(resize(storage, 48).ok).toBeDefined();
  storage.apply({ op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 3 }] } });
  expect(resize(storage, 64).err).toEqual({ code: "invalid", rule: "resize_in_use" });
  storage.apply({ op: "tokens.free", args: { req: "r1", from: 0, to: 3, bands: "all" } });
  expect(resize(storage, 64).ok).toBeDefined();
  // Ids begin again as at boot: the first virtual page is the first usable one.
  const answer = storage.apply({
    op: "tokens.extend",
    args: { batch: [{ req: "r1", from: 0, to: 2 }] },
  });
  expect(answer.ok).toEqual({
    pages: { r1: { virtual: [[1, 2]], full: [[14, 2]] } },
    step: "no_move",
  });
  expect(storage.apply({ op: "check.idle", args: {} }).ok).toEqual({
    violations: [],
    skipped: false,
  });
  expect(storage.clone().endDigest()).toBe(storage.endDigest());
});

test("a state taken after a resize is read back by a storage of the configured size", () => {
  const storage = booted();
  storage.apply({ op: "row.alloc", args: { reqs: ["r1"] } });
  expect(resize(storage, 64).ok).toBeDefined();
  storage.apply({ op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 12 }] } }); // the 40 bytes hold nine
  const other = new KVStorage(CONFIG, { digestDepth: "deep" });
  other.load(storage.state());
  expect(other.endDigest()).toBe(storage.endDigest());
  expect(most(other)).toBe(most(storage));
  expect(JSON.stringify(other.state())).toBe(JSON.stringify(storage.state()));
});

test("a state of an arena whose books cannot be held is refused", () => {
  const state = booted().state();
  const more = state.forwards["x_more"] as object;
  for (const arena_bytes of [2 ** 52, 0, "64"]) {
    const hostile = { ...state, forwards: { ...state.forwards, x_more: { ...more, arena_bytes } } };
    const load = (): void => {
      new KVStorage(CONFIG, { digestDepth: null }).load(hostile);
    };
    expect(load, String(arena_bytes)).toThrow(/arena_fits/);
  }
});
