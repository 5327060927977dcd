// 36 geometries: the largest demand that a question grants is taken, one more is refused and changes nothing.
import { expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

const PAGE_SIZES = [1, 2, 4];
const MIXES: [full: number, window: number, state: number][] = [
  [4, 3, 1],
  [4, 2, 2],
  [6, 3, 1],
  [3, 5, 2],
];
const SIZES: [full: number, window: number, state: number][] = [
  [24, 16, 4],
  [32, 16, 8],
  [20, 12, 6],
];

function geometry(
  pageSize: number,
  mix: (typeof MIXES)[number],
  size: (typeof SIZES)[number],
): DirectConfig {
  const units = { full: 16 * mix[0], window: 16 * mix[1], state: 40 * mix[2] };
  return {
    page_size: pageSize,
    arena_bytes: size[0] * units.full + size[1] * units.window + size[2] * units.state,
    sub_pools: [
      { name: "mamba", kind: "state", unit_bytes: units.state },
      { name: "window_8", kind: "mha", window: 8, unit_bytes: units.window },
      { name: "full", kind: "mha", unit_bytes: units.full },
    ],
    rows: 8,
    row_tokens: 4096,
  };
}

/** A chain with some of everything in it: two requests, states, holes in each band. */
function aged(config: DirectConfig): KVStorage {
  const storage = new KVStorage(config, { digestDepth: "deep" });
  const size = config.page_size;
  const operations: KvOperation[] = [
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs: ["r1", "r2", "r3"] } },
    { op: "state.alloc", args: { req: "r1", count: 1, purpose: "main" } },
    { op: "state.alloc", args: { req: "r2", count: 1, purpose: "main" } },
    {
      op: "tokens.extend",
      args: {
        batch: [
          { req: "r1", from: 0, to: 2 * size },
          { req: "r2", from: 0, to: size },
        ],
      },
    },
    { op: "tokens.free", args: { req: "r1", from: 0, to: size, bands: "all" } },
    { op: "state.free", args: { req: "r1", purpose: "main" } },
  ];
  for (const operation of operations) expect(storage.apply(operation).err).toBeUndefined();
  return storage;
}

type Direction = "tokens" | "states";

function demandOf(direction: Direction, pages: number): Record<string, number> {
  return direction === "states" ? { mamba: pages } : { window_8: pages, full: pages };
}

function takeOf(direction: Direction, pages: number, pageSize: number): KvOperation {
  return direction === "states"
    ? { op: "state.alloc", args: { req: "r3", count: pages, purpose: "main" } }
    : { op: "tokens.extend", args: { batch: [{ req: "r3", from: 0, to: pages * pageSize }] } };
}

let geometries = 0;
for (const pageSize of PAGE_SIZES) {
  for (const mix of MIXES) {
    for (const size of SIZES) {
      geometries += 1;
      test(`page size ${String(pageSize)}, units ${mix.join(":")}, sizes ${size.join(":")}`, () => {
        const config = geometry(pageSize, mix, size);
        for (const direction of ["tokens", "states"] as const) {
          const storage = aged(config);
          const fits = (pages: number): boolean => {
            const answer = storage.apply({
              op: "ask.fits",
              args: { demand: demandOf(direction, pages) },
            });
            return (answer.ok as { fits: boolean }).fits;
          };
          let most = 0;
          while (fits(most + 1)) most += 1;
          expect(most).toBeGreaterThan(0);
          const before = storage.endDigest();
          const refused = storage.apply(takeOf(direction, most + 1, pageSize));
          expect(refused.err?.code).toMatch(/^refused_(capacity|ids|state)$/);
          expect(storage.endDigest()).toBe(before);
          expect(storage.apply(takeOf(direction, most, pageSize)).err).toBeUndefined();
          expect(storage.apply({ op: "check.idle", args: {} }).ok).toEqual({
            violations: [],
            skipped: false,
          });
        }
      });
    }
  }
}

test("there are 36 geometries", () => {
  expect(geometries).toBe(36);
});
