// Files of requests for tests: written to a folder of their own, and what a reader made of them.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { InputError } from "../../src/base/errors.js";
import type { BlockRun } from "../../src/workload/request-traces.js";
import { openRequestTrace } from "../../src/workload/request-traces.js";

/** A writer of files that are gone after the tests. */
export function fileWriter(): (name: string, content: string | Uint8Array) => string {
  const folder = mkdtempSync(join(tmpdir(), "ut-requests-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
}

/** The ids of runs, one by one. */
export function idsOf(runs: readonly BlockRun[]): number[] {
  return runs.flatMap(([first, count]) =>
    Array.from({ length: count }, (_, index) => first + index),
  );
}

/** What reading a trace throws. */
export async function readingFails(spec: string, columns?: string): Promise<InputError> {
  try {
    await openRequestTrace(spec, undefined, undefined, columns);
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
  return expect.fail("nothing was thrown");
}
