// Runs on two devices at once: the simulated one and one with bytes, whose contents must be the same.
import type { Lanes } from "../../src/base/digest.js";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { ByteDevice, type ByteDeviceOptions } from "../../src/device/byte-device.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import type { seededWorkload } from "../../src/workload/seeded.js";

export interface ByteRun {
  readonly operations: number;
  readonly found: string | null; // the first violation or difference
}

/**
 * Plays a workload on both devices.
 * @param everyContents - operations between two comparisons of contents, 0 for none
 */
export function playOnBytes(
  workload: ReturnType<typeof seededWorkload>,
  options: Omit<ByteDeviceOptions, "kind">,
  everyContents: number,
  spoil: (operation: KvOperation, answer: Answer) => Answer = (_operation, answer) => answer,
): ByteRun {
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: null });
  const model = new ModelDevice({ verify: "touched" });
  const device = new ByteDevice({ ...options, kind: "host" });
  const bands: string[] = [];
  let operations = 0;
  let answer: Answer | null = null;
  const describe = (what: string): ByteRun => ({ operations, found: `${operations} ${what}` });
  try {
    for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
      if (!("operation" in step)) continue;
      const operation = step.operation as KvOperation;
      answer = storage.apply(operation);
      if (operation.op === "boot" && answer.ok !== undefined) {
        const boot = answer.ok as BootOk;
        model.open(config, boot);
        device.open(config, boot);
        bands.push(...Object.keys(boot.bands));
      }
      const given = spoil(operation, answer);
      if (given === answer) model.apply(operation, answer);
      const violation = device.apply(operation, given);
      if (violation !== null) return describe(`${operation.op}: ${violation.message}`);
      operations += 1;
      if (everyContents === 0 || operations % everyContents !== 0) continue;
      const other = bands.find((band) => !same(model.contents(band), device.contents(band)));
      if (other !== undefined) return describe(`${operation.op}: contents of ${other}`);
    }
    const violation = device.verifyAll();
    return { operations, found: violation?.message ?? null };
  } finally {
    device.close();
  }
}

function same(one: Lanes, other: Lanes): boolean {
  return one.a === other.a && one.b === other.b;
}
