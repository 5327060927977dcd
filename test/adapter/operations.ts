// Operations and openings for tests that care about the conversation, not about the allocator.
import { fileURLToPath } from "node:url";
import type { Operation } from "../../src/base/operations.js";
import type { RunOpening } from "../../src/adapter/adapter.js";

/** `count` operations: boot, then questions. */
export function someOperations(count: number): Operation[] {
  return Array.from({ length: count }, (_, n): Operation => {
    return n === 0
      ? { op: "boot", args: {} }
      : { op: "ask.fits", args: { demand: { full: n % 1000 } } };
  });
}

export const OPENING: RunOpening = {
  run: "run",
  domain: "kv",
  config: {
    page_size: 4,
    arena_bytes: 6656,
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 64 }],
    rows: 8,
    row_tokens: 128,
  },
  digestDepth: null,
};

export function fixture(name: string): string {
  return fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
}

/** The words that start the faulty program. */
export function faulty(fault: string, at = 0, manner = "at-once"): string[] {
  return [process.execPath, fixture("faulty.mjs"), fault, String(at), manner];
}

/** True while a process with this id exists (a zombie counts). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
