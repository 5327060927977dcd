// A seeded run of this project's allocator under the simulated device, its answers spoilt on the way if asked.
import type { Effect } from "../../src/base/effects.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import { seededWorkload } from "../../src/workload/seeded.js";

/** Changes an answer before the device sees it; the very same one where nothing is to be changed. */
export type Spoil = (operation: KvOperation, answer: Answer) => Answer;
export interface Run {
  readonly name: string;
  readonly operations: number;
  readonly spoilt: number; // answers that `spoil` changed
  readonly found: string | null; // the message of the first violation
  readonly foundAtOnce: boolean; // by the operation that was spoilt first
}

/** Plays a workload to its first violation. */
export function play(
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
        found: `${result.operations} ${operation.op}: ${violation.message}`,
        foundAtOnce: given !== answer && result.spoilt === 1,
      };
    result.operations += 1;
  }
  return { ...result, found: device.verifyAll()?.message ?? null, foundAtOnce: false };
}

/** Keeps the effects for which `keep` holds; the very same answer if that is all of them. */
export function keeping(keep: (effect: Effect) => boolean): Spoil {
  return (_operation, answer) =>
    answer.fx === undefined || answer.fx.every(keep)
      ? answer
      : { ...answer, fx: answer.fx.filter(keep) };
}
