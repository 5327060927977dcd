// The worked pricing table of one chain: 6,656 bytes, states on pages 2-7, a window float on [24, 38) with 4 holes, full
// attention on pages 16-25 with 2 holes. Expected steps and spans were worked out by hand in the specification.
import { expect, test } from "vitest";
import type { DirectConfig } from "../../src/base/operations.js";
import type { State } from "../../src/base/state.js";
import { planRelayout, type BandSnapshot } from "../../src/kv/alloc/pricing.js";
import { KVStorage } from "../../src/kv/storage.js";

const CONFIG: DirectConfig = {
  page_size: 4,
  arena_bytes: 6656,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 160 },
    { name: "window_8", kind: "mha", window: 8, unit_bytes: 24 },
    { name: "full", kind: "mha", unit_bytes: 64 },
  ],
  rows: 8,
  row_tokens: 512,
};

function loaded(): KVStorage {
  const storage = new KVStorage(CONFIG, { digestDepth: "layout" });
  const boot = storage.state();
  const forwards = { ...boot.forwards };
  const state: State = {
    ...boot,
    mamba: {
      ...band(boot, "mamba"),
      span: [2, 6],
      live: 6,
      bindings: [[2, 2, 6]],
      free_ids: [[8, 33]],
    },
    window_8: {
      ...band(boot, "window_8"),
      span: [24, 14],
      live: 10,
      holes: [[27, 4]],
      bindings: [
        [1, 24, 3],
        [4, 31, 7],
      ],
    },
    full: {
      ...band(boot, "full"),
      span: [16, 10],
      live: 8,
      holes: [[18, 2]],
      bindings: [
        [1, 16, 2],
        [3, 20, 6],
      ],
      free_ids: [[9, 17]],
    },
    forwards,
  };
  storage.load(state);
  return storage;
}

function band(state: State, name: string): object {
  return state[name] as object;
}

type Row = [demand: [number, number, number], step: string, spans: [number, number][] | null];
// Spans are half-open page ranges of state, window, full.
const TABLE: Row[] = [
  [
    [2, 3, 3],
    "no_move",
    [
      [2, 10],
      [24, 38],
      [15, 26],
    ],
  ],
  [
    [2, 8, 3],
    "no_move",
    [
      [2, 10],
      [20, 38],
      [15, 26],
    ],
  ],
  [
    [5, 9, 0],
    "flush_ends",
    [
      [2, 13],
      [24, 43],
      [18, 26],
    ],
  ],
  // Where the float moves: lo + floor((hi - lo - need) / 2) between the packed and grown ends.
  [
    [7, 0, 0],
    "relayout",
    [
      [2, 15],
      [31, 41],
      [18, 26],
    ],
  ],
  [
    [0, 0, 5],
    "relayout",
    [
      [2, 8],
      [19, 29],
      [13, 26],
    ],
  ],
  [
    [3, 4, 5],
    "relayout",
    [
      [2, 11],
      [19, 33],
      [13, 26],
    ],
  ],
  [[10, 20, 2], "none", null],
];

for (const [[states, windows, pages], step, spans] of TABLE) {
  test(`demand (${String(states)}, ${String(windows)}, ${String(pages)}) is served by ${step}`, () => {
    const storage = loaded();
    const before = storage.endDigest();
    const answer = storage.apply({
      op: "ask.plan",
      args: { demand: { mamba: states, window_8: windows, full: pages } },
    });
    const ok = answer.ok as { step: string; spans?: Record<string, [number, number]> };
    expect(ok.step).toBe(step);
    const got = ok.spans && Object.values(ok.spans).map(([first, count]) => [first, first + count]);
    expect(got ?? null).toEqual(spans);
    expect(storage.endDigest()).toBe(before);
  });
}

// The ends after packing and growth: top byte of the states, and the float's need. Full attention is set so that the
// float's block fits exactly: without slack the place is the low-packed one, which the table of the specification gives.
const LOW_PACKED: [states: number, need: number, low: number][] = [
  [13, 10, 25],
  [6, 10, 14],
  [9, 14, 19],
];
for (const [states, need, low] of LOW_PACKED) {
  test(`${String(states)} states push a float of ${String(need)} pages to page ${String(low)} at the lowest`, () => {
    const end = (low + need) * 96;
    const bands: BandSnapshot[] = [
      {
        grow: "up",
        pageBytes: 160,
        pages: 41,
        firstPage: 2,
        live: states,
        free: 0,
        vacated: 0,
        spanFirst: 2,
        spanCount: states,
        pinned: 0,
        kept: 0,
      },
      {
        grow: "float",
        pageBytes: 96,
        pages: 69,
        firstPage: 3,
        live: need,
        free: 0,
        vacated: 0,
        spanFirst: 40,
        spanCount: need,
        pinned: 0,
        kept: 0,
      },
      // One page whose first byte is where the float must end.
      {
        grow: "down",
        pageBytes: end,
        pages: 2,
        firstPage: 1,
        live: 1,
        free: 0,
        vacated: 0,
        spanFirst: 1,
        spanCount: 1,
        pinned: 0,
        kept: 0,
      },
    ];
    expect(planRelayout(bands, [0, 0, 0])?.spans[1]).toEqual([low, need]);
    expect(planRelayout(bands, [0, 1, 0])).toBeNull();
  });
}
