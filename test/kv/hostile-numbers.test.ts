// Numbers that no run can hold are refused with a reason, at once, whatever they are.
import { expect, test } from "vitest";
import type { DirectConfig } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import { Reference } from "../../src/reference/reference.js";

const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 40,
  sub_pools: [
    { name: "window_4", kind: "mha", window: 4, unit_bytes: 4 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: 2,
  row_tokens: 8,
};

test("ids beyond the id space are unbound, however many an extent names", () => {
  const storage = new KVStorage(CONFIG, { digestDepth: "layout" });
  storage.apply({ op: "boot", args: {} });
  storage.apply({ op: "row.alloc", args: { reqs: ["r1"] } });
  storage.apply({ op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 2 }] } });
  // Virtual pages 1 and 2 lie on pages 1, 2 of the window (up) and 8, 9 of full (down).
  const many = 2 ** 51;
  const up = storage.apply({ op: "ask.translate", args: { virtual: [[1, many]] } });
  expect(up.ok).toEqual({
    pages: {
      window_4: [
        [1, 2],
        [0, many - 2],
      ],
      full: [
        [8, 2],
        [0, many - 2],
      ],
    },
  });
  const down = storage.apply({ op: "ask.translate", args: { virtual: [[many, -many]] } });
  expect(down.ok).toEqual({
    pages: {
      window_4: [
        [0, many - 2],
        [2, -2],
      ],
      full: [
        [0, many - 2],
        [9, -2],
      ],
    },
  });
});

test.each([
  [
    "arena_bytes",
    { ...CONFIG, arena_bytes: Number.MAX_SAFE_INTEGER },
    /band window_4 has \d+ pages/,
  ],
  ["page_size", { ...CONFIG, page_size: Number.MAX_SAFE_INTEGER }, /larger than 2\^53/],
  ["rows", { ...CONFIG, rows: Number.MAX_SAFE_INTEGER }, /rows is/],
  ["host", { ...CONFIG, host: { full: 2 ** 31 } }, /host has 2147483648 pages of band full/],
])("a configuration with a huge %s is an input error", (_, config, message) => {
  expect(() => new KVStorage(config, { digestDepth: null })).toThrow(message);
});

test("an arena does not grow beyond what can be held", () => {
  const storage = new KVStorage(CONFIG, { digestDepth: "layout" });
  storage.apply({ op: "boot", args: {} });
  const answer = storage.apply({
    op: "arena.resize",
    args: { arena_bytes: 2 ** 52, chunk_bytes: 1 },
  });
  expect(answer.err).toEqual({ code: "refused_backing" });
});

test("a window far beyond its row retires what the row holds, at once, in both allocators", () => {
  for (const run of [new KVStorage(CONFIG, { digestDepth: null }), new Reference(CONFIG, null)]) {
    run.apply({ op: "boot", args: {} });
    run.apply({ op: "row.alloc", args: { reqs: ["r1"] } });
    run.apply({ op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 3 }] } });
    const { ok } = run.apply({ op: "window.retire", args: { req: "r1", len: 2 ** 50 } });
    // pages 1 to 3 of the window lie below the token at which the next window begins
    const cursor = 2 ** 50 - 4;
    expect(ok).toEqual({ window_4: { cursor, floor: null, freed: [[1, 3]] } });
  }
});
