// Numbers of a configuration by dotted paths.
import { expect, test } from "vitest";
import type { RunConfig } from "../../../src/base/operations.js";
import { configWith } from "../../../src/tools/bisect/config-key.js";

const config = {
  page_size: 16,
  model: { layers: [{ window: 128 }, { window: null, heads: [8, 4] }], tp: 2 },
  sub_pools: [
    { name: "window_4", unit_bytes: 2 },
    { name: "full", unit_bytes: 4 },
  ],
} as unknown as RunConfig;

test.each([
  ["page_size", { ...config, page_size: 3 }],
  ["sub_pools.full.unit_bytes", "sub_pools[1].unit_bytes"],
  ["model.layers.0.window", "model.layers[0].window"],
  ["model.layers.1.heads.1", "model.layers[1].heads[1]"],
  ["model.tp", "model.tp"],
] as const)("%s", (key, expected) => {
  const changed = configWith(config, key, 3, "r");
  if (typeof expected === "object") expect(changed).toEqual(expected);
  else expect(changed).toHaveProperty(expected, 3);
  const numbers = (text: string): number => (text.match(/\d+/g) ?? []).length;
  expect(numbers(JSON.stringify(changed))).toBe(numbers(JSON.stringify(config)));
});

test("a key that names no number is told with every one that does", () => {
  expect(() => configWith(config, "zzz", 3, "r")).toThrow(
    "--key zzz names no number of the configuration of run r: page_size, model.layers.0.window, " +
      "model.layers.1.heads.0, model.layers.1.heads.1, model.tp, sub_pools.window_4.unit_bytes, " +
      "sub_pools.full.unit_bytes, move_cap, invariants",
  );
});
