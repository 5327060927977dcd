// A packed trace that stops inside its packing is truncated, however much of it could be read.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { validateTrace } from "../../src/trace/validate.js";

const HEADER =
  '{"kind":"trace","format":"unified-trace","version":1,"producer":{"name":"t","version":"1","revision":null,"dirty":null},"created":null,"note":null}\n';
const RUN = (name: string): string =>
  `{"kind":"run","run":"${name}","domain":"heap","config":{},"source":{"type":"import","name":"t"},"digest_depth":null}\n` +
  `{"kind":"op","n":0,"op":"heap.alloc","args":{"id":"a","size_bytes":8},"ok":{}}\n{"kind":"end","run":"${name}","ops":1}\n`;

const whole = [gzipSync(HEADER + RUN("one")), gzipSync(RUN("two"))];

async function read(bytes: Buffer, acceptTruncated = false): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "unified-trace-cut-"));
  try {
    const file = join(folder, "t.jsonl.gz");
    writeFileSync(file, bytes);
    const summary = await validateTrace(file, { acceptTruncated });
    return `${String(summary.runs)} runs, ${summary.truncated === null ? "whole" : "cut"}`;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("whole members are read to their end", async () => {
  expect(await read(Buffer.concat(whole))).toBe("2 runs, whole");
});

test("a stream without its checksum and length is cut", async () => {
  const all = Buffer.concat(whole);
  for (const missing of [1, 4, 8]) {
    expect(await read(all.subarray(0, -missing))).toBe("trace_truncated");
    expect(await read(all.subarray(0, -missing), true)).toBe("2 runs, cut");
  }
});

test("a second member that hardly begins is cut", async () => {
  for (const kept of [10, 12, 20]) {
    const bytes = Buffer.concat([whole[0]!, whole[1]!.subarray(0, kept)]);
    expect(await read(bytes)).toBe("trace_truncated");
    expect(await read(bytes, true)).toBe("1 runs, cut");
  }
});
