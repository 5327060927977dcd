// A seeded run as the lines that it would leave in a trace, with what the model device and the idle checks say of it.
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { ModelDevice } from "../../src/device/model.js";
import { KVStorage } from "../../src/kv/storage.js";
import { seededWorkload, type SeededOptions } from "../../src/workload/seeded.js";

/** One run to its end, to its first violation on the device, or to the operation that threw. */
export interface SeededLines {
  readonly lines: readonly string[];
  readonly device: string | null; // first violation of the model device
  readonly idle: string | null; // first violation of the idle checks
  readonly thrown: string | null; // what the allocator threw
}

/** Runs a seed. @param isWatched - with the model device */
export function seededLines(options: SeededOptions, isWatched = true): SeededLines {
  const workload = seededWorkload(options);
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: "layout" });
  const device = isWatched ? new ModelDevice({ verify: "touched" }) : null;
  const lines: string[] = [];
  let answer: Answer | null = null;
  let idle: string | null = null;
  let violation: string | null = null;
  const result = (thrown: string | null): SeededLines => ({
    lines,
    device: violation,
    idle,
    thrown,
  });
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation; // seeded runs ask an allocator
    try {
      answer = storage.apply(operation);
    } catch (error) {
      return result(error instanceof Error ? error.message : String(error));
    }
    lines.push(JSON.stringify([operation, answer, storage.takeDigest()]));
    if (operation.op === "check.idle") idle ??= firstIdle(answer);
    if (operation.op === "boot") device?.open(config, answer.ok as BootOk);
    violation = device?.apply(operation, answer)?.message ?? null;
    if (violation !== null) return result(null);
  }
  idle ??= firstIdle(storage.apply({ op: "check.idle", args: {} }));
  violation = device?.verifyAll()?.message ?? null;
  return result(null);
}

function firstIdle(answer: Answer): string | null {
  const { violations } = answer.ok as { readonly violations: readonly { check: string }[] };
  return violations[0]?.check ?? null;
}
