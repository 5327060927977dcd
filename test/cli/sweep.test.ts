// `sweep` on the command line: its answer, its exit codes, an interrupt.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { file, folder, isOneLine, root, start } from "./command-line.js";

const TRACE = "sweep.jsonl";
const CUT = "sweep-cut.jsonl";
const words = (key: string, trace = TRACE): string[] => ["sweep", "--trace", trace, "--key", key];

beforeAll(async () => {
  const record = ["record", "--seeds", "0:2", "--ops", "60", "--layouts", "full+window"];
  expect((await start([...record, "--out", TRACE])).code).toBe(0);
  const lines = readFileSync(join(folder, TRACE), "utf8").trimEnd().split("\n");
  writeFileSync(join(folder, CUT), `${lines.slice(0, -1).join("\n")}\n`);
});

describe.concurrent("exit codes", () => {
  test("0: where refusals begin, a row for each value, the summary", async () => {
    const { code, stdout, stderr } = await start(words("rows=8:1:x2"));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^where operations begin to be refused, by rows$/m);
    expect(stdout).toMatch(/^ {2}row\.alloc +refused_rows /m);
    for (const value of [8, 4, 2, 1]) expect(stdout).toMatch(new RegExp(`^ +${value} +\\d`, "m"));
    // 60 operations of each of two runs, at four values
    expect(stdout).toMatch(/\nswept: 4 values, 8 runs and 480 operations replayed\n$/);
  });

  test("2: a key that the configuration lacks, a run that the trace lacks", async () => {
    const key = await start(words("arena_byte=1m:2m:1m"));
    expect([key.code, key.stdout, isOneLine(key.stderr)]).toEqual([2, "", true]);
    expect(key.stderr).toContain("did you mean arena_bytes?");
    const run = await start([...words("rows=1:2:1"), "--run", "nobody"]);
    expect([run.code, isOneLine(run.stderr)]).toEqual([2, true]);
  });

  test("3: a trace that is cut, or is none", async () => {
    const cut = await start(words("rows=4:4:1", CUT));
    expect([cut.code, isOneLine(cut.stderr)]).toEqual([3, true]);
    expect((await start(words("rows=4:4:1", file("none.jsonl", "{\n")))).code).toBe(3);
  });

  test("5: an implementation that does not answer the domain, or does not start", async () => {
    const heap = await start([...words("rows=4:4:1"), "--impl", "heap:buddy"]);
    expect([heap.code, heap.stdout, isOneLine(heap.stderr)]).toEqual([5, "", true]);
    expect(heap.stderr).toContain("does not answer domain kv");
    expect((await start([...words("rows=4:4:1"), "--impl", "cmd:/nowhere/at-all"])).code).toBe(5);
  });

  test("6: a cut trace that is accepted, time that is over", async () => {
    const cut = await start([...words("rows=4:4:1", CUT), "--accept-truncated"]);
    expect(cut.code).toBe(6);
    expect(cut.stdout).toMatch(/\nincomplete: 1 value, /);
    const late = await start([...words("rows=4:1:1"), "--time-budget", "0.000001"]);
    expect(late.code).toBe(6);
    expect(late.stdout).toMatch(/\nincomplete: 1 of 4 values, /);
  });
});

test("130: interrupted between two values", async () => {
  const own = pathToFileURL(join(root, "dist", "index.js")).href;
  const begun = join(folder, "sweep-begun");
  // many values; that the first one is under way shows in a file
  const impl = file(
    "tells.mjs",
    `import { writeFileSync } from "node:fs";
     import { KV_OPERATIONS, KVStorage } from ${JSON.stringify(own)};
     export const info = { name: "tells", version: "1", ops: KV_OPERATIONS, digest: null, fx: true };
     export function createImplementation(config) {
       writeFileSync(${JSON.stringify(begun)}, "");
       const storage = new KVStorage(config, { digestDepth: null });
       return { apply: (operation) => storage.apply(operation), state: () => null, close: () => null };
     }`,
  );
  const long = [...words("arena_bytes=1m:8k:128"), "--impl", `module:${impl}`];
  const { code, stdout, stderr } = await start(long, {
    onStart: async (kill) => {
      while (!existsSync(begun)) await new Promise((resolve) => setTimeout(resolve, 5));
      kill("SIGINT");
    },
  });
  expect([code, stdout]).toEqual([130, ""]);
  expect(stderr).toContain("interrupted");
});
