// Laws of the simulated device over seeded runs of a toy allocator that is legal by construction.
import { describe, expect, test } from "vitest";
import { ModelDevice } from "../../src/device/model.js";
import type { DeviceViolation, VerifyPolicy } from "../../src/device/device.js";
import { TOY_BOOT, TOY_CONFIG, type ToyMistake, ToyRun } from "./toy-allocator.js";

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed);
const STEPS = 250;
const BANDS = Object.keys(TOY_BOOT.bands);

function opened(verify: VerifyPolicy): ModelDevice {
  const device = new ModelDevice({ verify });
  device.open(TOY_CONFIG, TOY_BOOT);
  return device;
}

/** The first violation of a seed's run, whether it came with the mistake, and how the run went. */
function play(
  seed: number,
  verify: VerifyPolicy,
  mistake: ToyMistake | null = null,
): {
  found: DeviceViolation | null;
  atMistake: boolean;
  made: boolean;
  waits: number;
  moves: number;
} {
  const device = opened(verify);
  const run = new ToyRun(seed, seed + 1000, mistake);
  const counts = { made: false, waits: 0, moves: 0 };
  for (let step = 0; step < STEPS; step++) {
    for (const { operation, answer, mistaken } of run.next()) {
      counts.made ||= mistaken;
      for (const [kind] of answer.fx ?? []) {
        if (kind === "wait") counts.waits += 1;
        if (kind === "move") counts.moves += 1;
      }
      const found = device.apply(operation, answer);
      if (found !== null) return { found, atMistake: mistaken, ...counts };
    }
  }
  return { found: device.verifyAll(), atMistake: false, ...counts };
}

describe("a legal run", () => {
  test.each(["touched", "every"] as const)("has no violation, verifying %s", (verify) => {
    let waits = 0;
    let moves = 0;
    for (const seed of SEEDS) {
      const run = play(seed, verify);
      expect(run.found?.message ?? null, `seed ${seed}`).toBeNull();
      waits += run.waits;
      moves += run.moves;
    }
    // The runs are worth something only if they wait and move.
    expect(waits).toBeGreaterThan(SEEDS.length * 5);
    expect(moves).toBeGreaterThan(SEEDS.length * 5);
  });

  test("has contents that do not depend on where its pages lie", () => {
    for (const seed of SEEDS) {
      const devices = [opened("touched"), opened("touched")];
      const runs = [new ToyRun(seed, 1), new ToyRun(seed, 2)];
      const seen = new Set<string>();
      for (let step = 0; step < STEPS; step++) {
        for (const [index, run] of runs.entries())
          for (const { operation, answer } of run.next()) devices[index]!.apply(operation, answer);
        const contents = devices.map((device) => BANDS.map((band) => device.contents(band)));
        expect(contents[0], `seed ${seed} step ${step}`).toEqual(contents[1]);
        seen.add(JSON.stringify(contents[0]));
      }
      expect(seen.size).toBeGreaterThan(STEPS / 8); // they do follow what is written
    }
  });
});

describe("one mistake in an otherwise legal run", () => {
  test.each([
    ["wait", /nothing waits for f\d+ first$/],
    ["written move", /^move reads .* while f\d+ may still write it/],
    [
      "overlap",
      /, which is live$|is handed out while it is live$|is a destination and named before in one move$/,
    ],
  ] as const)("%s: is found by the very operation", (mistake, says) => {
    let made = 0;
    for (const seed of SEEDS) {
      const run = play(seed, "touched", mistake);
      if (!run.made) continue;
      made += 1;
      expect(run.found?.message ?? `nothing in seed ${seed}`).toMatch(says);
      expect(run.atMistake, `seed ${seed}: ${String(run.found?.message)}`).toBe(true);
    }
    expect(made).toBeGreaterThan(SEEDS.length / 2);
  });
});
