// No output may be one of the inputs, whatever its flag; a trace without operations is no success of any command.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { file, folder, isOneLine, root, start } from "./command-line.js";

const read = (name: string): string => readFileSync(join(folder, name), "utf8");

beforeAll(async () => {
  const words = ["record", "--seeds", "0:1", "--ops", "20", "--layouts", "full+window"];
  expect((await start([...words, "--out", "kept.jsonl"])).code).toBe(0);
  const scenario = readFileSync(join(root, "scenarios", "boot_floor_met_exactly.json"));
  writeFileSync(join(folder, "scenario.json"), scenario);
  mkdirSync(join(folder, "some"));
  writeFileSync(join(folder, "some", "scenario.json"), scenario);
  file("mask.json", '{"masks":[]}');
});

test.each([
  ["kept.jsonl", ["compare", "--trace", "kept.jsonl", "--write-baseline", "kept.jsonl"]],
  ["kept.jsonl", ["compare", "--trace", "kept.jsonl", "--junit", "./kept.jsonl"]],
  ["kept.jsonl", ["compare", "kept.jsonl", "kept.jsonl", "--markdown", "kept.jsonl"]],
  ["scenario.json", ["run", "scenario.json", "--junit", "scenario.json"]],
  ["some/scenario.json", ["run", "some", "--markdown", "some/scenario.json"]],
  ["scenario.json", ["stress", "--replay", "scenario.json", "--junit", "scenario.json"]],
  ["scenario.json", ["stress", "--replay", "scenario.json", "--html", "scenario.json"]],
  ["some/scenario.json", ["run", "some", "--html", "some/scenario.json"]],
  ["kept.jsonl", ["stats", "kept.jsonl", "--html", "./kept.jsonl"]],
])("%s stays: %j", async (name, words) => {
  const before = read(name);
  const { code, stderr } = await start(words);
  expect(read(name)).toBe(before);
  expect([code, isOneLine(stderr)]).toEqual([2, true]);
});

test.each([["anonymize"], ["bundle"]])("%s of a trace without operations: exit 3", async (name) => {
  const [header = ""] = read("kept.jsonl").split("\n");
  const empty = file("empty-runs.jsonl", `${header}\n`);
  const words = name === "bundle" ? ["bundle", "--trace", empty] : ["anonymize", empty];
  const { code, stderr } = await start([...words, "--out", `${name}.jsonl`]);
  expect([code, isOneLine(stderr)]).toEqual([3, true]);
  expect(stderr).toContain("holds no operation");
});

test("import of a trace of requests says what serves it", async () => {
  const { code, stderr } = await start(["import", "mooncake:/no/such.jsonl", "--out", "x.jsonl"]);
  expect([code, isOneLine(stderr)]).toEqual([2, true]);
  expect(stderr).toContain("--workload");
});
