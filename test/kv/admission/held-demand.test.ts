// Admission of a request that holds a row already: what its chunk takes is there, window pages that nobody retired yet
// included. The law over many states is in test/property/admission-truth.ts.
import { describe, expect, test } from "vitest";
import type { AdmitVerdict, DirectConfig, KvOperation } from "../../../src/base/operations.js";
import { KVStorage } from "../../../src/kv/storage.js";

// Page size 1, sink 4 bytes: an arena of 4 * (n + 1) bytes has n pages, whichever band they go to.
function configOf(pages: number): DirectConfig {
  return {
    page_size: 1,
    arena_bytes: 4 * (pages + 1),
    sub_pools: [
      { name: "window_2", kind: "mha", window: 2, unit_bytes: 4 },
      { name: "full", kind: "mha", unit_bytes: 4 },
    ],
    rows: 4,
    row_tokens: 64,
  };
}

function started(config: DirectConfig, tokens: number): KVStorage {
  const storage = new KVStorage(config, { digestDepth: null });
  apply(storage, { op: "boot", args: {} });
  apply(storage, { op: "row.alloc", args: { reqs: ["r1"] } });
  if (tokens > 0) extend(storage, 0, tokens);
  return storage;
}

function apply(storage: KVStorage, operation: KvOperation): void {
  expect(storage.apply(operation).err, operation.op).toBeUndefined();
}
function extend(storage: KVStorage, from: number, to: number): void {
  apply(storage, { op: "tokens.extend", args: { batch: [{ req: "r1", from, to }] } });
}
function judge(storage: KVStorage, input: number, chunk: number): AdmitVerdict {
  const queue = [{ req: "r1", input, max_new: 0 }];
  const { ok } = storage.apply({ op: "admit.pass", args: { queue, chunk } });
  return (ok as Record<string, AdmitVerdict>)["r1"]!;
}

describe("a prompt of 8 tokens, 4 of them computed, nothing retired: 4 + 4 pages are held", () => {
  test("4 more tokens take 8 more pages: 16 pages serve them", () => {
    const storage = started(configOf(16), 4);
    expect(judge(storage, 8, 4)).toEqual({ verdict: "admit", tokens: 4, reason: null });
    extend(storage, 4, 8);
  });

  test("15 pages do not; 4 full pages and a chunk of 3 do, and the rest after the window is retired", () => {
    const storage = started(configOf(15), 4);
    expect(judge(storage, 8, 4)).toEqual({ verdict: "chunk", tokens: 3, reason: null });
    extend(storage, 4, 7);
    // of the window the pages 5 and 6 stay
    apply(storage, { op: "window.retire", args: { req: "r1", len: 7 } });
    expect(judge(storage, 8, 4)).toEqual({ verdict: "admit", tokens: 1, reason: null });
    extend(storage, 7, 8);
  });

  test("12 pages hold the full band alone: no chunk fits while the window is as it is", () => {
    const storage = started(configOf(12), 4);
    const aborted = { verdict: "abort", tokens: 0, reason: "unschedulable" };
    expect(judge(storage, 8, 4)).toEqual(aborted);
    apply(storage, { op: "window.retire", args: { req: "r1", len: 4 } });
    // pages 0 and 1 went, 12 - 4 - 2 are free: 4 for the full band, 2 for the window
    expect(judge(storage, 8, 4)).toEqual({ verdict: "chunk", tokens: 2, reason: null });
    extend(storage, 4, 6);
  });
});

test("an empty row is charged like a request without one", () => {
  for (let pages = 1; pages < 30; pages++) {
    for (const chunk of [1, 3, 8]) {
      const open = judge(started(configOf(pages), 0), 8, chunk);
      const closed = started(configOf(pages), 0);
      apply(closed, { op: "row.free", args: { req: "r1" } });
      expect(open).toEqual(judge(closed, 8, chunk));
    }
  }
});

test("chunks of an unaligned row end on the page grid, the largest that fits", () => {
  // Page size 4, full band only: 5 pages. 6 tokens hold 2 of them; 14 tokens take 4, 22 take 6.
  const config: DirectConfig = {
    page_size: 4,
    arena_bytes: 16 * 6,
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
    rows: 4,
    row_tokens: 64,
  };
  const storage = started(config, 6);
  // 12 tokens would end at 18, between pages: 10 end at 16.
  expect(judge(storage, 20, 12)).toEqual({ verdict: "chunk", tokens: 10, reason: null });
  expect(judge(storage, 20, 14)).toEqual({ verdict: "admit", tokens: 14, reason: null });
  expect(judge(storage, 24, 14)).toEqual({ verdict: "abort", tokens: 0, reason: "never_fits" });
});

test("slots are charged by purpose: a spare slot is no main slot", () => {
  const config: DirectConfig = {
    page_size: 1,
    arena_bytes: 4 * 11,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: 4 },
      { name: "full", kind: "mha", unit_bytes: 4 },
    ],
    rows: 4,
    row_tokens: 64,
  };
  // 10 pages: 1 for a copy's slot, 4 for tokens; the main slot is missing.
  const storage = started(config, 4);
  apply(storage, { op: "state.alloc", args: { req: "r1", count: 1, purpose: "cow" } });
  expect(judge(storage, 8, 4)).toMatchObject({ verdict: "admit" });
  expect(judge(storage, 9, 8)).toMatchObject({ verdict: "abort" }); // 5 tokens and the slot: 6 of 5
  apply(storage, { op: "state.alloc", args: { req: "r1", count: 1, purpose: "main" } });
  expect(judge(storage, 8, 4)).toMatchObject({ verdict: "admit" }); // 4 of 4
});
