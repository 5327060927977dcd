// Drives a workload against the allocator, or against something simpler that answers.
import type { Answer, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import type { Workload } from "../../src/workload/workload.js";

/** One operation with its answer. */
export interface Driven {
  readonly operation: KvOperation;
  readonly answer: Answer;
}

/** Anything that answers. */
export type Answerer = (operation: KvOperation) => Answer;

/** The allocator over a workload's configuration. */
export function allocatorOf(workload: Workload): KVStorage {
  return new KVStorage(workload.config, { digestDepth: null });
}

/** Every operation of a workload with its answer, in order; more than `most` operations are an error. */
export function* drive(
  workload: Workload,
  answerer: Answerer,
  most = 1_000_000,
): Generator<Driven> {
  let answer: Answer | null = null;
  for (let count = 0; ; count++) {
    if (count > most) throw new Error(`${workload.run}: more than ${String(most)} operations`);
    const step = workload.next(answer);
    if (step === null) return;
    if (!("operation" in step)) {
      answer = null;
      continue;
    }
    const operation = step.operation as KvOperation;
    answer = answerer(operation);
    yield { operation, answer };
  }
}

/** All of it, against the allocator. */
export function driveAllocator(workload: Workload): Driven[] {
  const storage = allocatorOf(workload);
  return [...drive(workload, (operation) => storage.apply(operation))];
}
