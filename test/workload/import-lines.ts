// Imports a log into lines, for tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { createTraceWriter } from "../../src/trace/writer.js";
import type { TraceLine } from "../../src/trace/lines.js";
import { openImport } from "../../src/workload/import.js";
import type { ImportCounts, ImportOptions } from "../../src/workload/import.js";

const folder = mkdtempSync(join(tmpdir(), "unified-trace-import-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
let files = 0;

/** A log of test/fixtures/logs. */
export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/logs/${name}`, import.meta.url));
/** The lines of such a log. */
export const linesOf = (name: string): string[] =>
  readFileSync(fixture(name), "utf8").trimEnd().split("\n");

/** A path of its own. */
export function freshPath(suffix: string): string {
  files += 1;
  return join(folder, `log${files}${suffix}`);
}

/** A file with these lines. */
export function logOf(lines: readonly string[]): string {
  const path = freshPath(".replay");
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

export interface Imported {
  readonly lines: readonly TraceLine[];
  readonly counts: ImportCounts;
}

/** All lines of an import. */
export async function imported(spec: string, options: ImportOptions = {}): Promise<Imported> {
  const log = await openImport(spec, options);
  const lines: TraceLine[] = [];
  try {
    for (;;) {
      const batch = await log.readBatch();
      if (batch.lines.length === 0) break;
      lines.push(...batch.lines);
    }
    return { lines, counts: log.counts() };
  } finally {
    await log.close();
  }
}

/** Writes an import as a trace and gives its path. */
export async function writtenImport(spec: string): Promise<string> {
  const path = freshPath(".jsonl");
  const writer = createTraceWriter(path);
  for (const line of (await imported(spec)).lines) writer.line(line);
  writer.commit();
  return path;
}
