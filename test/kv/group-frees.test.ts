// What a free inside an open group leaves behind: the page stays bound and live, but its row has let go of it.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

// Page size 1. The window grows up, full grows down.
const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 96,
  sub_pools: [
    { name: "window_8", kind: "mha", window: 8, unit_bytes: 2 },
    { name: "full", kind: "mha", unit_bytes: 4 },
  ],
  rows: 2,
  row_tokens: 16,
  overlap: true,
};

function started(): { readonly storage: KVStorage; readonly ok: (op: KvOperation) => Answer } {
  const storage = new KVStorage(CONFIG, { digestDepth: null });
  const ok = (operation: KvOperation): Answer => {
    const answer = storage.apply(operation);
    expect(answer.err, operation.op).toBeUndefined();
    return answer;
  };
  ok({ op: "boot", args: {} });
  ok({ op: "row.alloc", args: { reqs: ["r1"] } });
  ok({ op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 3 }] } });
  ok({ op: "group.begin", args: {} });
  return { storage, ok };
}

test("a page freed in a group still translates, of a window as of full", () => {
  const { ok } = started();
  const { pages: before } = ok({ op: "ask.translate", args: { req: "r1" } }).ok as {
    pages: Record<string, unknown>;
  };
  ok({ op: "tokens.free", args: { req: "r1", from: 0, to: 1, bands: ["window_8"] } });
  const { pages } = ok({ op: "ask.translate", args: { req: "r1" } }).ok as { pages: unknown };
  expect(pages).toEqual(before);
});

test("a forward launched after the free is no reader of the page", () => {
  const { ok } = started();
  // Two window pages are let go: the base one makes the hole, the middle one is what a later flush moves.
  ok({ op: "group.end", args: {} });
  ok({ op: "tokens.free", args: { req: "r1", from: 0, to: 1, bands: ["window_8"] } });
  ok({ op: "group.begin", args: {} });
  ok({ op: "tokens.free", args: { req: "r1", from: 2, to: 3, bands: ["window_8"] } });
  const batch = [{ req: "r1", from: 0, to: 3 }];
  ok({ op: "forward.launch", args: { step: "f1", batch, mode: "decode" } });
  ok({ op: "forward.record", args: { step: "f1", writes: "known" } });
  const flushed = ok({ op: "chain.flush", args: {} }).ok as Record<string, { moves: unknown[] }>;
  expect(flushed["window_8"]?.moves).toHaveLength(1);
  const again = ok({ op: "chain.flush", args: {} }).ok as Record<string, { absorbed: number }>;
  expect(again["window_8"]?.absorbed).toBe(1); // a hole at once, not vacated under f1
});
