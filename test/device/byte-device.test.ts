// The device with bytes, over plain JavaScript: on every seeded profile its bytes hold what the simulated device says.
import { expect, test } from "vitest";
import type { ByteArena, ByteBackend } from "../../src/device/bytes.js";
import { VERB } from "../../src/device/bytes-script.js";
import { simulatedBackend } from "../../src/device/bytes-simulated.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { WEIGHT_NAMES } from "../../src/workload/seeded-profiles.js";
import { playOnBytes } from "./byte-run.js";

const PAGE_SIZES = [1, 3, 16];
const SEEDS = 2;
const OPERATIONS = 200;

test.each([...WEIGHT_NAMES])("bytes hold what profile %s wrote", (weights) => {
  let operations = 0;
  for (const [index, layout] of LAYOUTS.entries()) {
    const pageSize = PAGE_SIZES[index % PAGE_SIZES.length]!; // in range
    for (let seed = 0; seed < SEEDS; seed++) {
      const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize, weights });
      const run = playOnBytes(workload, { verify: "touched", backend: simulatedBackend }, 7);
      expect(run.found, `${layout} page ${pageSize} seed ${seed}`).toBeNull();
      operations += run.operations;
    }
  }
  expect(operations).toBe(LAYOUTS.length * SEEDS * OPERATIONS);
});

test("two requests of a batch write the same page: the last one's tokens stand, in one write a unit", () => {
  const forwards: number[][] = [];
  const recording: ByteBackend = {
    ...simulatedBackend,
    open: (config) => recordedArena(simulatedBackend.open(config), forwards),
  };
  // Requests that share a page of the tree, both written by one forward (found on a device whose writes have no order).
  const options = {
    ops: 300,
    layout: "full+window+state",
    pageSize: 3,
    weights: "steady",
  } as const;
  const workload = seededWorkload({ ...options, seed: 2 });
  expect(playOnBytes(workload, { verify: "touched", backend: recording }, 0).found).toBeNull();
  expect(forwards.length).toBeGreaterThan(5);
  for (const verb of forwards) {
    const [reads, states, writes] = [verb[4]!, verb[5]!, verb[6]!];
    const units = new Set<string>();
    let named = 0;
    for (let k = 0; k < writes; k++) {
      const at = 7 + 2 * (reads + states) + 6 * k;
      const [band, id, from, to] = verb.slice(at, at + 4) as [number, number, number, number];
      for (let unit = from; unit < to; unit++, named++) units.add(`${band} ${id} ${unit}`);
    }
    expect(units.size).toBe(named);
  }
});

function recordedArena(arena: ByteArena, forwards: number[][]): ByteArena {
  const submit = arena.submit.bind(arena);
  arena.submit = (words, count) => {
    for (let at = 0; at < count; at += words[at + 1]!)
      if (words[at] === VERB.forward) forwards.push([...words.subarray(at, at + words[at + 1]!)]);
    submit(words, count);
  };
  return arena;
}
