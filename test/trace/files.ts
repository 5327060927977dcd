// Temporary files and small traces for the tests of reader and writer.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { UnifiedTraceError } from "../../src/base/errors.js";
import type { TraceLine } from "../../src/trace/lines.js";
import type { ReaderOptions, TraceReader } from "../../src/trace/reader.js";
import { openTrace } from "../../src/trace/reader.js";

const folder = mkdtempSync(join(tmpdir(), "unified-trace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** A path in a folder that goes away after the tests of the file. */
export function freshPath(suffix = ".jsonl"): string {
  files += 1;
  return join(folder, `t${files}${suffix}`);
}

/** Writes a file and gives its path. */
export function fileOf(content: string | Uint8Array, suffix = ".jsonl"): string {
  const path = freshPath(suffix);
  writeFileSync(path, content);
  return path;
}

export const HEADER =
  '{"kind":"trace","format":"unified-trace","version":1,"producer":{"name":"t","version":"1","revision":null,"dirty":null},"created":null,"note":null}';
export const RUN =
  '{"kind":"run","run":"one","domain":"kv","config":{"page_size":4,"arena_bytes":2048,"sub_pools":[{"name":"window_8","kind":"mha","window":8,"unit_bytes":24},{"name":"full","kind":"mha","unit_bytes":16}],"rows":8,"row_tokens":128},"source":{"type":"scenario","name":"one"},"digest_depth":"layout"}';
export const BOOT =
  '{"kind":"op","n":0,"op":"boot","args":{},"ok":{"bands":{"window_8":{"grow":"up","unit_bytes":24,"page_bytes":96,"pages":21,"first_page":1},"full":{"grow":"down","unit_bytes":16,"page_bytes":64,"pages":32,"first_page":2}},"sink_bytes":96}}';
export const ALLOC =
  '{"kind":"op","n":1,"op":"row.alloc","args":{"reqs":["r1"]},"ok":{"rows":{"r1":1}}}';
export const FITS =
  '{"kind":"op","n":2,"op":"ask.fits","args":{"demand":{"full":1,"window_8":2}},"ok":{"fits":true}}';
export const END = '{"kind":"end","run":"one","ops":3}';
export const GOOD = [HEADER, RUN, BOOT, ALLOC, FITS, END];

/** The components of the run in RUN. */
export const COMPONENTS: readonly string[] = [
  ...["window_8", "full", "chain", "forwards", "ledger", "rows", "tree", "host", "net"],
];

/** The line with a digest of these components at its end. */
export function withDigest(line: string, components: readonly string[]): string {
  const digest = components.map((name) => `"${name}":"00000000000000aa"`).join(",");
  return `${line.slice(0, -1)},"digest":{${digest}}}`;
}

export const textOf = (lines: readonly string[], end = "\n"): string =>
  lines.map((line) => `${line}${end}`).join("");

/** All lines of a trace, and its reader, closed. */
export async function readAll(
  path: string,
  options: ReaderOptions = {},
  max?: number,
): Promise<{ lines: TraceLine[]; numbers: number[]; reader: TraceReader }> {
  const reader = await openTrace(path, options);
  const lines: TraceLine[] = [];
  const numbers: number[] = [];
  try {
    for (;;) {
      const batch = await reader.readBatch(max);
      if (batch.lines.length === 0) return { lines, numbers, reader };
      lines.push(...batch.lines);
      numbers.push(...batch.numbers);
    }
  } finally {
    await reader.close();
  }
}

/** The error of reading a file, as `code exit line message`; where it is no JSON the column stands behind the line. */
export async function errorOf(path: string, options: ReaderOptions = {}): Promise<string> {
  try {
    await readAll(path, options);
    return "no error";
  } catch (error) {
    if (!(error instanceof UnifiedTraceError)) throw error;
    const { line, column } = error.place;
    const parts = error.code === "trace_not_json" ? [line, column] : [line];
    const where = parts.filter((part) => part !== undefined).join(":");
    return `${error.code} ${error.exitCode} ${where} ${error.message}`;
  }
}
