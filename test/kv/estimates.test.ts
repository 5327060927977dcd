// Estimates of an empty chain are exact: with nothing live, holes and fences aside, one band's room is what a take gets.
import { expect, test } from "vitest";
import { Prng } from "../../src/base/prng.js";
import type { DirectConfig } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";

test("an empty float beside bands on other grids is rounded inwards", () => {
  let odd = 0; // floats whose low bound is off their grid
  for (let seed = 0; seed < 200; seed++) {
    const prng = new Prng(seed, 41);
    const pageSize = prng.pick([1, 3, 16]);
    const units = [prng.between(1, 60), prng.between(1, 60), prng.between(1, 60)] as const;
    const config: DirectConfig = {
      page_size: pageSize,
      arena_bytes: prng.between(1_500, 6_000) * pageSize,
      sub_pools: [
        { name: "mamba", kind: "state", unit_bytes: units[0] },
        { name: "window_3", kind: "mha", window: 3, unit_bytes: units[1] },
        { name: "full", kind: "mha", unit_bytes: units[2] },
      ],
      rows: 2,
      row_tokens: 64,
    };
    const storage = new KVStorage(config, { digestDepth: null });
    const boot = storage.apply({ op: "boot", args: {} }).ok as {
      readonly bands: Readonly<Record<string, { first_page: number; page_bytes: number }>>;
    };
    const [below, float] = [boot.bands["mamba"]!, boot.bands["window_3"]!]; // both are declared
    if ((below.first_page * below.page_bytes) % float.page_bytes !== 0) odd += 1;
    const answer = storage.apply({ op: "ask.estimates", args: {} }).ok as {
      readonly window_3: { readonly available: number };
    };
    const pages = answer.window_3.available / pageSize;
    const fits = (count: number): unknown =>
      storage.apply({ op: "ask.fits", args: { demand: { window_3: count } } }).ok;
    expect([fits(pages), fits(pages + 1)], JSON.stringify(config)).toEqual([
      { fits: true },
      { fits: false },
    ]);
  }
  expect(odd).toBeGreaterThan(50);
});
