// `record --last` on the command line: a recording that goes on from a state, in every command that reads it.
import { expect, test } from "vitest";
import { isOneLine, linesOf, start } from "./command-line.js";

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

test.each([
  [["--last", "0"], /at least 1/],
  [["--last", "5", "--crash-safe"], /choose one/],
])("exit 2: %s", async (words, message) => {
  const { code, stdout, stderr } = await start(["record", ...words, "--out", "no.jsonl"]);
  expect([code, stdout, isOneLine(stderr)]).toEqual([2, "", true]);
  expect(stderr).toMatch(message);
});
