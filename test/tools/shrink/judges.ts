// Judges on the allocator itself, with a mistake that a predicate stands for.
import type { Answer, DirectConfig, KvOperation } from "../../../src/base/operations.js";
import { KVStorage } from "../../../src/kv/storage.js";
import type { Judge, Judgement, ShrinkCase } from "../../../src/tools/shrink/case.js";
import { seededWorkload } from "../../../src/workload/seeded.js";
import type { SeededOptions } from "../../../src/workload/seeded.js";

export const BOOT: KvOperation = { op: "boot", args: {} };

/** One request row after another, and pages of one token. */
export const CONFIG: DirectConfig = {
  page_size: 1,
  arena_bytes: 1024,
  sub_pools: [
    { name: "window_8", kind: "mha", window: 8, unit_bytes: 4 },
    { name: "full", kind: "mha", unit_bytes: 8 },
  ],
  rows: 8,
  row_tokens: 64,
};

/** Whether the mistake shows at operation `n`; a text tells of which kind it is. */
export type Shows = (
  operation: KvOperation,
  answer: Answer,
  n: number,
  before: readonly Answer[],
) => string | boolean;

/** Fails at the first operation that shows the mistake; `seen` counts the calls. */
export function judgeBy(shows: Shows, seen: { calls: number } = { calls: 0 }): Judge {
  return async (value) => {
    seen.calls += 1;
    return judged(value, shows);
  };
}

export function judged({ config, ops }: ShrinkCase, shows: Shows): Judgement {
  const storage = new KVStorage(config, { digestDepth: null });
  const illegal: number[] = [];
  const before: Answer[] = [];
  for (const [n, operation] of ops.entries()) {
    const answer = storage.apply(operation);
    if (answer.err?.code === "invalid") illegal.push(n);
    const shown = shows(operation, answer, n, before);
    before.push(answer);
    if (shown === false) continue;
    const check = shown === true ? "planted" : shown;
    const signature = { check, op: operation.op, component: null };
    return { kind: "fails", finding: { signature, n, message: `at ${n}` }, illegal };
  }
  return { kind: "passes" };
}

/** The operations of a seeded run of the allocator. */
export function seededCase(options: SeededOptions): ShrinkCase {
  const workload = seededWorkload(options);
  const config = workload.config as DirectConfig; // seeded runs have the direct form
  const storage = new KVStorage(config, { digestDepth: null });
  const ops: KvOperation[] = [];
  let answer: Answer | null = null;
  for (;;) {
    const step = workload.next(answer);
    if (step === null) return { config, ops };
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation; // of this domain
    ops.push(operation);
    answer = storage.apply(operation);
  }
}
