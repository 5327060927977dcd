// What a patch deep inside the allocator has to know of the outside: which operation is under way, and on which rank.
import type { Answer, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import { patchMethod } from "./patch.js";

/** The operation under way, seen from inside it. */
export interface UnderWay {
  readonly undo: () => void;
  readonly operation: KvOperation | null;
  /** 0 for the run that booted first since the planting, 1 for the second, 0 for the third, and so on. */
  readonly rank: number;
}

/** Follows the operations of all runs; `after` may change the answer of one. */
export function watchOperations(
  after: (operation: KvOperation, answer: Answer) => Answer = (_operation, answer) => answer,
): UnderWay {
  const ranks = new WeakMap<KVStorage, number>();
  let booted = 0;
  let operation: KvOperation | null = null;
  let rank = 0;
  const undo = patchMethod(
    KVStorage.prototype,
    "apply",
    (original) =>
      function (this: KVStorage, applied: KvOperation): Answer {
        if (applied.op === "boot") ranks.set(this, booted++ % 2);
        const before = [operation, rank] as const;
        operation = applied;
        rank = ranks.get(this) ?? 0;
        try {
          return after(applied, original.call(this, applied));
        } finally {
          [operation, rank] = before;
        }
      },
  );
  return {
    undo,
    get operation() {
      return operation;
    },
    get rank() {
      return rank;
    },
  };
}
