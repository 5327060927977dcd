// Tripping a check: what must be granted on the way, and the refusal that must change nothing.
import { expect } from "vitest";
import type { Answer, KvOperation } from "../../src/base/operations.js";
import type { KVStorage } from "../../src/kv/storage.js";

/** Values of `invariants`. */
export type Level = 0 | 1 | 2;
export const LEVELS: readonly Level[] = [0, 1, 2];

export function granted(storage: KVStorage, operation: KvOperation): Answer {
  const answer = storage.apply(operation);
  expect(answer.err, operation.op).toBeUndefined();
  return answer;
}

/** A broken contract: answered as `invalid`, without effects, and the state is as it was. */
export function refused(storage: KVStorage, operation: KvOperation): Answer["err"] {
  const before = JSON.stringify(storage.state());
  const clock = /"clock":\d+/g; // operations are counted, refused ones too
  const { err, fx } = storage.apply(operation);
  expect(err?.code, operation.op).toBe("invalid");
  expect(fx).toBeUndefined();
  expect(JSON.stringify(storage.state()).replace(clock, "")).toBe(before.replace(clock, ""));
  return err;
}
