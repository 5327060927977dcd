// Entries, views and kernel ids: laws over random models, then layouts worked out by hand.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { arenaLayout, POISON_WORD } from "../../../src/kv/layout/arena.js";
import type { EntryLayout } from "../../../src/kv/layout/entry.js";
import { entryLayout } from "../../../src/kv/layout/entry.js";
import { hostLayout } from "../../../src/kv/layout/host.js";
import {
  kernelId,
  physicalToken,
  tokenPlace,
  tokenSlot,
} from "../../../src/kv/layout/kernel-ids.js";
import type { KVView, SubPoolViews } from "../../../src/kv/layout/views.js";
import { alignmentFaults, subPoolViews } from "../../../src/kv/layout/views.js";
import { ELEMENT_BYTES } from "../../../src/kv/decl/types.js";
import { pageBytesOf } from "../../../src/kv/sizing/floor.js";
import type { Json } from "../layers.js";
import { END_PAIR, FULL_WINDOW, LATENT_STATE, planOf, randomLayers } from "../layers.js";

const entriesOf = (model: Json, pageTokens: number): Record<string, EntryLayout> =>
  Object.fromEntries(
    planOf(model, { pageTokens }).subPools.map((pool) => [pool.name, entryLayout(pool)]),
  );
/** First byte of an element. */
const byteOf = (view: KVView, at: readonly number[]): number =>
  view.baseBytes +
  ELEMENT_BYTES[view.element] * at.reduce((sum, i, axis) => sum + i * view.strides[axis]!, 0);
const lastByteOf = (view: KVView): number =>
  view.shape.includes(0)
    ? view.baseBytes
    : byteOf(
        view,
        view.shape.map((dimension) => dimension - 1),
      ) + ELEMENT_BYTES[view.element];

describe("laws over random models", () => {
  test("blocks are disjoint and cover the entry; only siblings leave a gap, below 8 bytes", () => {
    for (let seed = 0; seed < 300; seed++) {
      const prng = new Prng(seed);
      const plan = planOf(randomLayers(prng), { pageTokens: prng.pick([1, 3, 16]) });
      for (const pool of plan.subPools) {
        const entry = entryLayout(pool);
        expect(entry.entryBytes, `seed ${seed}`).toBe(pageBytesOf(plan, pool));
        let end = 0;
        for (const block of entry.blocks) {
          const gap = block.offsetBytes - end;
          expect(gap).toBeGreaterThanOrEqual(0);
          expect(gap).toBeLessThan(block.name.startsWith("sibling") ? 8 : 1);
          end = block.offsetBytes + block.rowBytes * block.rows;
        }
        const hasSibling = entry.blocks.some((block) => block.name.startsWith("sibling"));
        expect(entry.entryBytes - end).toBeGreaterThanOrEqual(0);
        expect(entry.entryBytes - end).toBeLessThan(hasSibling ? 8 : 1);
      }
    }
  });

  test("views stay within the backing, and reach what the entry says", () => {
    for (let seed = 0; seed < 200; seed++) {
      const prng = new Prng(seed, 9);
      const plan = planOf(randomLayers(prng), { pageTokens: prng.pick([1, 2, 8]) });
      const arena = arenaLayout(plan, prng.between(2000, 90_000), prng.chance(1, 2));
      arena.views.forEach((views, at) => {
        const entry = arena.entries[at]!;
        if (alignmentFaults(entry).length > 0) return; // refused before it is viewed
        expect(views.tailPadBytes).toBeLessThanOrEqual(arena.backingBytes - arena.arenaBytes);
        for (const view of views.views)
          expect(lastByteOf(view), `seed ${seed}`).toBeLessThanOrEqual(arena.backingBytes);
        checkRows(entry, views, Math.floor(arena.arenaBytes / entry.entryBytes), prng);
      });
    }
  });
});

// The element that a view names for a row is the one at that row of the block inside its page.
function checkRows(entry: EntryLayout, views: SubPoolViews, pages: number, prng: Prng): void {
  if (pages === 0 || views.form === "slots") return;
  entry.blocks.forEach((block, at) => {
    const view = views.views[at]!;
    const page = prng.below(pages);
    const row = prng.below(entry.rows);
    const expected = page * entry.entryBytes + block.offsetBytes + row * block.rowBytes;
    const zeros = block.shape.map(() => 0);
    const index =
      views.form === "shifted" ? [page * views.pageStride + row, ...zeros] : [page, row, ...zeros];
    expect(byteOf(view, index)).toBe(expected);
  });
}

describe("golden layouts", () => {
  test("MHA, 2 layers of 2 heads of 4 in fp16, pages of 4: K0 V0 K1 V1 of 64 bytes each", () => {
    const full = entriesOf(END_PAIR, 4)["full"]!;
    expect(full.entryBytes).toBe(256);
    expect(
      full.blocks.map(({ name, layer, offsetBytes, rowBytes }) => [
        name,
        layer,
        offsetBytes,
        rowBytes,
      ]),
    ).toEqual([
      ["k", 0, 0, 16],
      ["v", 0, 64, 16],
      ["k", 1, 128, 16],
      ["v", 1, 192, 16],
    ]);
    const views = subPoolViews(full, 26);
    expect(views).toMatchObject({ form: "strided", pageStride: 4, tailPadBytes: 0 });
    expect(views.views[3]).toEqual({
      block: "v",
      layer: 1,
      role: "target",
      element: "float16",
      shape: [26, 4, 2, 4],
      strides: [128, 8, 4, 1],
      baseBytes: 192,
    });
  });

  test("the same in kernel rows: 2L blocks a page, ids page * 16 + offset, one entry of pad", () => {
    const views = subPoolViews(entriesOf(END_PAIR, 4)["full"]!, 26, true);
    expect(views).toMatchObject({
      form: "shifted",
      pageStride: 16,
      kernelIds: 416,
      tailPadBytes: 256,
    });
    expect(views.views[3]).toMatchObject({
      shape: [416, 2, 4],
      strides: [8, 4, 1],
      baseBytes: 192,
    });
  });

  test("asymmetric K and V have no kernel rows", () => {
    const model = {
      layers: [
        { count: 2, attention: { heads: 2, head_dim: 4, v_head_dim: 2, dtype: "float16" } },
        { attention: { heads: 1, head_dim: 4, window: 8 } },
      ],
    };
    const full = entriesOf(model, 3)["full"]!;
    // K rows 16 bytes, V rows 8: layer 1 begins at 3 * 24
    expect(full.blocks.map((block) => block.offsetBytes)).toEqual([0, 48, 72, 120]);
    expect(full.entryBytes).toBe(144);
    const views = subPoolViews(full, 10, true);
    expect(views.form).toBe("strided");
    expect(views.views[1]).toMatchObject({
      shape: [10, 3, 2, 2],
      strides: [72, 4, 2, 1],
      baseBytes: 48,
    });
  });

  test("pages of one token: the per-token entry", () => {
    expect(entriesOf(END_PAIR, 1)["full"]!.blocks.map((block) => block.offsetBytes)).toEqual([
      0, 16, 32, 48,
    ]);
  });

  test("latent rows: layer l shifted by l * rows * row, ids page * (rows * layers) + offset", () => {
    const full = entriesOf(LATENT_STATE, 4)["full"]!;
    expect(full.entryBytes).toBe(3 * 4 * 16);
    const views = subPoolViews(full, 10);
    expect(views).toMatchObject({
      form: "shifted",
      pageStride: 12,
      kernelIds: 120,
      tailPadBytes: 192,
    });
    expect(views.views.map((view) => view.baseBytes)).toEqual([0, 64, 128]);
    expect(views.views[2]).toMatchObject({ shape: [120, 1, 8], strides: [8, 8, 1] });
    // page 5, offset 3: id 63; in layer 2 byte 128 + 63 * 16 = 5 * 192 + 2 * 64 + 3 * 16
    expect(byteOf(views.views[2]!, [63, 0, 0])).toBe(1136);
  });

  test("state: conv of every layer, then temporal of every layer; views by layer and slot", () => {
    const state = entriesOf(END_PAIR, 4)["mamba"]!;
    expect(state.entryBytes).toBe(160);
    expect(state.blocks.map(({ name, layer, offsetBytes }) => [name, layer, offsetBytes])).toEqual([
      ["conv0", 2, 0],
      ["conv0", 3, 48],
      ["temporal", 2, 96],
      ["temporal", 3, 128],
    ]);
    const views = subPoolViews(state, 41);
    expect(views.views).toMatchObject([
      { block: "conv0", layer: null, shape: [2, 41, 4, 3], strides: [12, 40, 3, 1], baseBytes: 0 },
      {
        block: "temporal",
        shape: [2, 41, 2, 2, 2],
        strides: [8, 40, 4, 2, 1],
        baseBytes: 96,
      },
    ]);
    // slot 40 of layer 1, last temporal element: the last four bytes of the grid
    expect(byteOf(views.views[1]!, [1, 40, 1, 1, 1])).toBe(41 * 160 - 4);
  });

  test("siblings follow at the next multiple of 8, the slot ends on one", () => {
    const model = {
      layers: [
        { attention: { heads: 1, head_dim: 4 } },
        {
          count: 2,
          state: {
            conv: [[5]],
            conv_dtype: "int8",
            temporal: [0],
            siblings: [
              { shape: [1], dtype: "uint8" },
              { shape: [2], dtype: "int64" },
            ],
          },
        },
      ],
    };
    const state = entriesOf(model, 4)["mamba"]!;
    expect(state.blocks.map(({ name, offsetBytes }) => [name, offsetBytes])).toEqual([
      ["conv0", 0],
      ["conv0", 5],
      ["temporal", 10],
      ["temporal", 10],
      ["sibling0", 16],
      ["sibling0", 17],
      ["sibling1", 24],
      ["sibling1", 40],
    ]);
    expect(state.entryBytes).toBe(56);
    expect(alignmentFaults(state)).toEqual([]);
  });

  test("index keys stand behind V of their layer, in strided views", () => {
    const indexKey = { shape: [6], dtype: "uint8" };
    const model = {
      layers: [
        { count: 2, attention: { kind: "mla", kv_lora_rank: 4, index_key: indexKey } },
        { state: { conv: [[2]], temporal: [0] } },
      ],
    };
    const full = entriesOf(model, 2)["full"]!;
    expect(full.blocks.map(({ name, offsetBytes }) => [name, offsetBytes])).toEqual([
      ["latent", 0],
      ["index_key", 16],
      ["latent", 28],
      ["index_key", 44],
    ]);
    expect(subPoolViews(full, 3)).toMatchObject({ form: "strided", pageStride: 2 });
  });
});

describe("alignment", () => {
  test("names the tensor whose base, row or entry is off", () => {
    const state = (conv: number): EntryLayout =>
      entriesOf(
        {
          layers: [
            { attention: { heads: 1, head_dim: 4 } },
            { state: { conv: [[conv]], temporal: [2] } },
          ],
        },
        4,
      )["mamba"]!;
    expect(alignmentFaults(state(4))).toEqual([]);
    // three bf16 end at byte 6; the slot has 14 bytes
    expect(alignmentFaults(state(3))).toEqual([
      { band: "mamba", block: "temporal", layer: 1, what: "base", bytes: 6, elementBytes: 4 },
      { band: "mamba", block: "temporal", layer: 1, what: "entry", bytes: 14, elementBytes: 4 },
    ]);
  });
});

describe("kernel ids", () => {
  const plan = planOf(LATENT_STATE, { pageTokens: 4 });
  const full = plan.subPools.at(-1)!;
  const views = subPoolViews(entryLayout(full), 10);
  const bound = (page: number): number => (page === 2 ? 7 : page === 3 ? 5 : -1);

  test("follow the physical page and the layout's stride; physical tokens do not", () => {
    const place = tokenPlace(plan);
    expect(kernelId(2 * 4 + 3, place, views, bound)).toBe(7 * 12 + 3);
    expect(physicalToken(2 * 4 + 3, place, full, bound)).toBe(7 * 4 + 3);
  });

  test("are 0 for what is unbound, the sink or negative", () => {
    const place = tokenPlace(plan);
    for (const token of [0, -1, -5, 4, 100]) expect(kernelId(token, place, views, bound)).toBe(0);
    expect(physicalToken(-3, place, full, bound)).toBe(0);
    expect(kernelId(13, place, views, () => 0)).toBe(0);
  });

  test("are 0 for tokens that another rank stores; every token is some rank's", () => {
    const wide = planOf(LATENT_STATE, { pageTokens: 4, contextRanks: 2 });
    const [even, odd] = [tokenPlace(wide, 0), tokenPlace(wide, 1)];
    // page 2 holds tokens 16 to 23; token 19 is row 1 of rank 1
    expect(tokenSlot(19, odd)).toEqual({ page: 2, row: 1 });
    expect(tokenSlot(19, even)).toBeNull();
    expect(kernelId(19, even, views, bound)).toBe(0);
    expect(kernelId(19, odd, views, bound)).toBe(7 * 12 + 1);
    const rows = new Set<string>();
    for (let token = 8; token < 32; token++) {
      const owners = [even, odd].flatMap((place) => tokenSlot(token, place) ?? []);
      expect(owners).toHaveLength(1);
      rows.add(`${token % 2} ${owners[0]!.page} ${owners[0]!.row}`);
    }
    expect(rows.size).toBe(24); // no two tokens share a row of a rank
  });
});

describe("the backing and the host", () => {
  test("is longer than the arena by the widest shifted entry", () => {
    expect(arenaLayout(planOf(FULL_WINDOW, { pageTokens: 4 }), 10_000)).toMatchObject({
      arenaBytes: 10_000,
      backingBytes: 10_000,
    });
    const latent = planOf(LATENT_STATE, { pageTokens: 4 });
    expect(arenaLayout(latent, 10_000).backingBytes).toBe(10_192);
    const rows = arenaLayout(planOf(FULL_WINDOW, { pageTokens: 4 }), 10_000, true);
    expect(rows.backingBytes).toBe(10_384); // the window's entry, 4 * 96
  });

  test("the poison word is a bf16 NaN", () => {
    expect(POISON_WORD & 0x7f80).toBe(0x7f80); // exponent all ones
    expect(POISON_WORD & 0x007f).not.toBe(0); // mantissa not zero
  });

  test("two MHA ends share one backing of page envelopes, a float and a state own theirs", () => {
    const bandsOf = (model: Json): unknown =>
      hostLayout(planOf(model, { pageTokens: 4 }), "page_first").backings.map(
        (backing) => backing.bands,
      );
    expect(bandsOf(FULL_WINDOW)).toEqual([["window_8", "full"]]);
    expect(bandsOf(END_PAIR)).toEqual([["mamba"], ["full"]]);
    const attention = { heads: 1, head_dim: 4 };
    const windows = {
      layers: [
        { attention },
        { attention: { ...attention, window: 8 } },
        { attention: { ...attention, window: 16 } },
      ],
    };
    expect(bandsOf(windows)).toEqual([["window_16", "full"], ["window_8"]]);
  });

  test("direct page-first copies become kernel copies", () => {
    const plan = planOf(FULL_WINDOW, { pageTokens: 4 });
    expect(hostLayout(plan, "page_first_direct", "direct")).toMatchObject({
      layout: "page_first",
      ioBackend: "kernel",
      isSwitched: true,
    });
    expect(hostLayout(plan, "layer_first", "direct")).toMatchObject({
      layout: "layer_first",
      ioBackend: "direct",
      isSwitched: false,
    });
  });
});
