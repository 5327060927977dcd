// `record --last` on the command line: a recording that goes on from a state, in every command that reads it.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { file, folder, isOneLine, linesOf, root, start } from "./command-line.js";

test("the last operations, behind a state: valid, equal, healthy, and said so", async () => {
  const words = ["record", "--seeds", "0:2", "--ops", "150", "--last", "30", "--out", "last.jsonl"];
  const { code, stdout } = await start(words);
  expect(code).toBe(0);
  expect(stdout).toMatch(/recorded last\.jsonl: 4 runs, 600 operations, 120 of them kept, /);
  const runs = linesOf("last.jsonl").filter(({ kind }) => kind === "run");
  for (const { starts_at: from, dropped } of runs) expect([from, dropped]).toEqual([120, 120]);
  for (const again of [
    ["validate", "last.jsonl"],
    ["compare", "--trace", "last.jsonl"],
    ["replay", "--trace", "last.jsonl"],
    ["replay", "--trace", "last.jsonl", "--from-state"],
    ["convert", "last.jsonl", "--out", "last.perfetto.json"],
    ["convert", "last.jsonl", "--recover", "--out", "last-again.jsonl"],
    ["edit", "last.jsonl", "--cut", "130:140", "--out", "last-cut.jsonl"],
    ["compare", "--trace", "last-cut.jsonl"],
  ])
    expect([again, (await start(again)).code]).toEqual([again, 0]);
});

test("what a kill leaves is a trace of the last operations", async () => {
  const ends = file(
    "ends.mjs",
    `import { KV_OPERATIONS, KVStorage } from ${JSON.stringify(join(root, "dist/index.js"))};
export const info = { name: "ends", version: "1.0.0", ops: KV_OPERATIONS, digest: "layout", fx: true };
export function createImplementation(config, { digestDepth }) {
  const storage = new KVStorage(config, { digestDepth });
  let n = 0;
  return {
    apply(operation) {
      if (n++ === 2300) process.kill(process.pid, "SIGKILL");
      const answer = storage.apply(operation);
      return { ...answer, digest: storage.takeDigest() };
    },
    state: () => storage.state(),
    close: () => storage.endDigest(),
  };
}`,
  );
  const words = ["record", "--impl", `module:${ends}`, "--seeds", "0:1", "--ops", "3000"];
  const last = [
    "--layouts",
    "full+window",
    "--last",
    "200",
    "--crash-safe",
    "--out",
    "killed.jsonl",
  ];
  await start([...words, ...last]);
  const left = readdirSync(folder).filter((name) => name.startsWith("killed.jsonl.kept.jsonl."));
  expect(left).toHaveLength(1);
  const { code } = await start(["convert", left[0]!, "--recover", "--out", "recovered.jsonl"]);
  expect(code).toBe(6);
  const numbers = linesOf("recovered.jsonl").filter(({ kind }) => kind === "op");
  expect(numbers.at(-1).n).toBe(2299);
  expect(numbers.length).toBeGreaterThanOrEqual(200);
  expect((await start(["compare", "--trace", "recovered.jsonl"])).code).toBe(0);
});

test.each([
  [["--last", "0", "--out", "no.jsonl"], /at least 1/],
  [["--last", "5", "--crash-safe", "--out", "-"], /a file beside the trace/],
])("exit 2: %s", async (words, message) => {
  const { code, stdout, stderr } = await start(["record", ...words]);
  expect([code, stdout, isOneLine(stderr)]).toEqual([2, "", true]);
  expect(stderr).toMatch(message);
});
