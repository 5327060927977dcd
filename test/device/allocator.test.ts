// The allocator of this project under the device, every live page verified after every operation; then the same runs
// with one kind of mistake put between the two.
import { describe, expect, test } from "vitest";
import type { Effect } from "../../src/base/effects.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import { seededWorkload } from "../../src/workload/seeded.js";

const LAYOUTS = ["full+window", "full+state"] as const;
const SEEDS = [0, 1, 2, 3, 4, 5, 6, 7];
const OPERATIONS = 400;

type Spoil = (operation: KvOperation, answer: Answer) => Answer;
interface Run {
  readonly name: string;
  readonly operations: number;
  readonly spoilt: number; // answers that `spoil` changed
  readonly found: string | null; // the message of the first violation
  readonly foundAtOnce: boolean; // by the operation that was spoilt first
}

function runs(spoil: Spoil, verify: "touched" | "every"): Run[] {
  return LAYOUTS.flatMap((layout) =>
    [1, 16].flatMap((pageSize) =>
      SEEDS.map((seed) =>
        run(seededWorkload({ seed, ops: OPERATIONS, layout, pageSize }), spoil, verify),
      ),
    ),
  );
}

function run(
  workload: ReturnType<typeof seededWorkload>,
  spoil: Spoil,
  verify: "touched" | "every",
): Run {
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: null });
  const device = new ModelDevice({ verify });
  const result = { name: workload.run, operations: 0, spoilt: 0 };
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    answer = storage.apply(operation);
    if (operation.op === "boot") device.open(config, answer.ok as BootOk);
    const given = spoil(operation, answer);
    if (given !== answer) result.spoilt += 1;
    const violation = device.apply(operation, given);
    if (violation !== null)
      return {
        ...result,
        found: violation.message,
        foundAtOnce: given !== answer && result.spoilt === 1,
      };
    result.operations += 1;
  }
  return { ...result, found: device.verifyAll()?.message ?? null, foundAtOnce: false };
}

/** Keeps the effects for which `keep` holds; the very same answer if that is all of them. */
function keeping(keep: (effect: Effect) => boolean): Spoil {
  return (_operation, answer) =>
    answer.fx === undefined || answer.fx.every(keep)
      ? answer
      : { ...answer, fx: answer.fx.filter(keep) };
}

describe("the allocator under the device", () => {
  test("has no violation", () => {
    const broken = runs((_operation, answer) => answer, "every").filter(
      (one) => one.found !== null,
    );
    expect(broken).toEqual([]);
  });

  test("is caught when it forgets to zero", () => {
    const all = runs(
      keeping((effect) => effect[0] !== "zero"),
      "touched",
    );
    expect(all.filter((one) => !one.foundAtOnce)).toEqual([]);
  });

  test("is caught when it forgets its waits", () => {
    const all = runs(
      keeping((effect) => effect[0] !== "wait"),
      "touched",
    );
    // A wait may be more careful than the bytes need, so the first one forgotten is not always the one that shows.
    const forgetful = all.filter((one) => one.spoilt > 0);
    expect(forgetful.length).toBeGreaterThan(all.length / 2);
    expect(forgetful.filter((one) => one.found === null)).toEqual([]);
    expect(all.filter((one) => one.spoilt === 0 && one.found !== null)).toEqual([]);
    expect(forgetful.filter((one) => one.foundAtOnce).length).toBeGreaterThan(forgetful.length / 2);
  });
});
