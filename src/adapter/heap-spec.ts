// The words behind `heap:`: which reference allocator, and how large its arena is.
import { UsageError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import { HEAP_POLICIES } from "../heap/heap-allocator.js";
import type { HeapPolicyName } from "../heap/heap-allocator.js";

/** A reference allocator as it was named. @public */
export interface HeapSpec {
  readonly policy: HeapPolicyName;
  readonly arenaBytes: number | null; // null: as the run's configuration says, else as large as need be
}

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Reads `POLICY` or `POLICY@SIZE`. Throws `UsageError` with the nearest policy. @public */
export function parseHeapSpec(text: string): HeapSpec {
  const [word = "", size, ...more] = text.split("@");
  const policy = HEAP_POLICIES.find((known) => known === word);
  const expected = `heap:POLICY or heap:POLICY@SIZE, POLICY one of ${HEAP_POLICIES.join(", ")}`;
  if (policy === undefined) {
    const nearest = nearestWord(word, HEAP_POLICIES);
    const meant = nearest === null ? "" : ` (did you mean ${nearest}?)`;
    throw new UsageError(`unknown allocator ${JSON.stringify(word)}${meant}; expected ${expected}`);
  }
  if (size === undefined) return { policy, arenaBytes: null };
  const [, digits, unit = ""] = /^(\d+)([kmg]?)$/i.exec(size) ?? [];
  const bytes = Number(digits) * (UNITS[unit.toLowerCase()] ?? 1);
  if (more.length > 0 || !Number.isSafeInteger(bytes) || bytes === 0)
    throw new UsageError(`heap:${text}: ${JSON.stringify(size)} is no size; expected ${expected}`);
  return { policy, arenaBytes: bytes };
}
