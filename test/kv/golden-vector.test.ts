// The golden vector of an end pair: 6,656 bytes, full MHA (64 bytes a token, page size 4) above recurrent state (160).
// Figures were observed on an earlier allocator of the same rules; fresh pages of a mixed take ascend here.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import type { BandState } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";

const CONFIG: DirectConfig = {
  page_size: 4,
  arena_bytes: 6656,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 160 },
    { name: "full", kind: "mha", unit_bytes: 64 },
  ],
  rows: 32,
  row_tokens: 128,
};

test("golden vector of an end pair", () => {
  const storage = new KVStorage(CONFIG, { digestDepth: "layout" });
  const apply = (operation: KvOperation): Answer => {
    const answer = storage.apply(operation);
    expect(answer.err).toBeUndefined();
    return answer;
  };
  const full = (): BandState => storage.state()["full"] as BandState;
  const fits = (demand: Record<string, number>): boolean =>
    (apply({ op: "ask.fits", args: { demand } }).ok as { fits: boolean }).fits;
  const most = (band: string): number => {
    let pages = 0;
    while (fits({ [band]: pages + 1 })) pages += 1;
    return pages;
  };
  const extend = (req: string, to: number): Answer =>
    apply({ op: "tokens.extend", args: { batch: [{ req, from: 0, to }] } });
  const pagesOf = (answer: Answer, req: string): unknown =>
    (answer.ok as { pages: Record<string, Record<string, unknown>> }).pages[req]!["full"];

  const boot = apply({ op: "boot", args: {} }).ok as {
    sink_bytes: number;
    bands: Record<string, unknown>;
  };
  expect(boot.sink_bytes).toBe(256);
  expect(boot.bands["full"]).toMatchObject({ pages: 26, first_page: 1, page_bytes: 256 });
  expect(boot.bands["mamba"]).toMatchObject({ pages: 41, first_page: 2 });
  // 24 pages: the gap binds, though the index room is 25. All 39 states fit.
  expect(most("full")).toBe(24);
  expect(most("mamba")).toBe(39);

  const reqs = Array.from({ length: 24 }, (_, index) => `r${String(index + 1)}`);
  apply({ op: "row.alloc", args: { reqs } });
  expect(pagesOf(extend("r1", 12), "r1")).toEqual([[23, 3]]);
  extend("r2", 8);
  apply({ op: "state.alloc", args: { req: "r1", count: 3, purpose: "main" } });
  expect(full().live).toBe(5);
  expect(most("full")).toBe(17); // 68 tokens
  expect(most("mamba")).toBe(28);

  apply({ op: "tokens.free", args: { req: "r1", from: 4, to: 8, bands: "all" } });
  expect(full().holes).toEqual([[24, 1]]);
  expect(most("full")).toBe(18); // 72 tokens
  expect(most("mamba")).toBe(30); // the neighbour's hole is credited: a flush would close it
  expect(pagesOf(extend("r3", 4), "r3")).toEqual([[24, 1]]);

  apply({ op: "tokens.free", args: { req: "r1", from: 0, to: 4, bands: "all" } });
  apply({ op: "tokens.free", args: { req: "r3", from: 0, to: 4, bands: "all" } });
  const flushed = apply({ op: "chain.flush", args: {} }).ok as Record<string, unknown>;
  expect(flushed["full"]).toEqual({
    moves: [
      [21, 24],
      [22, 23],
    ],
    absorbed: 0,
  });
  expect(full().holes).toEqual([[21, 2]]);
  const relieved = apply({ op: "chain.relieve", args: { demand: { mamba: 31 } } });
  expect(relieved.ok).toMatchObject({ step: "flush_ends", moves: { full: 0 } });
  expect(full().span).toEqual([23, 3]); // the frontier is page 22
  expect(full().holes).toEqual([]);
  expect(most("mamba")).toBe(31);

  for (let index = 4; index < 23; index++) extend(`r${String(index)}`, 4);
  expect(full().live).toBe(22);
  expect(full().span[0]).toBe(4); // the frontier is page 3
  expect(full().free_ids).toEqual([
    [2, -2],
    [6, 1],
  ]);
  expect(most("full")).toBe(0);
  expect(most("mamba")).toBe(1);
});
