// Reports for other programs on the command line: where they go, what excludes what, and saved reports printed again.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { elementsOf, junitProblems, readXml } from "../report/junit-reader.js";
import { file, folder, isOneLine, root, start } from "./command-line.js";

const candidate = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const divergent = ["compare", "--trace", "base.jsonl", "--candidate", candidate];
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

beforeAll(async () => {
  const words = ["record", "--seeds", "0:2", "--ops", "60", "--out", "base.jsonl"];
  expect((await start(words)).code).toBe(0);
});

test("files beside the text; the job summary is appended to", async () => {
  writeFileSync(join(folder, "summary.md"), "# before\n");
  const env = { GITHUB_STEP_SUMMARY: join(folder, "summary.md") };
  const words = [...divergent, "--junit", "a.xml", "--markdown", "a.md", "--github"];
  const { code, stdout, stderr } = await start(words, { env });
  expect([code, stderr]).toEqual([1, ""]);
  expect(junitProblems(readXml(read("a.xml")))).toEqual([]);
  const failures = elementsOf(readXml(read("a.xml")), "failure");
  expect(failures.length).toBe(3); // of four runs
  expect(read("summary.md")).toBe(`# before\n${read("a.md")}\n`);
  expect(stdout.split("\n").filter((line) => line.startsWith("::error ")).length).toBe(3);
  expect(stdout).toMatch(/^::stop-commands::/);
});

test("a saved report gives every form again, byte for byte, with the exit code", async () => {
  const first = await start([...divergent, "--json"]);
  const saved = file("saved.json", first.stdout);
  const again = ["compare", "--report", saved];
  expect(await start([...again, "--json"])).toEqual(first);
  const text = await start(divergent);
  expect(await start(again)).toEqual(text);
  for (const form of ["--junit", "--markdown"]) {
    const made = await start([...divergent, form, "-"]);
    expect(await start([...again, form, "-"])).toEqual(made);
    expect(made.code).toBe(1);
  }
  expect(await start([...again, "--github"])).toEqual(await start([...divergent, "--github"]));
});

test("run: scenarios as cases, again from the saved report", async () => {
  const scenario = join(root, "scenarios", "backend_latent_rows.json");
  const { code } = await start(["run", scenario, "--junit", "run.xml"]);
  expect(code).toBe(0);
  const xml = readXml(read("run.xml"));
  expect(junitProblems(xml)).toEqual([]);
  expect(elementsOf(xml, "testcase").length).toBeGreaterThan(0);
  const saved = file("run.json", (await start(["run", scenario, "--json"])).stdout);
  const again = await start(["run", "--report", saved, "--junit", "-"]);
  expect([again.code, again.stdout]).toEqual([0, read("run.xml")]);
});

test.each([
  [["--json", "--github"]],
  [["--json", "--junit", "-"]],
  [["--junit", "-", "--markdown", "-"]],
  [["--github", "--markdown", "-"]],
  [["--junit", "x.out", "--markdown", "x.out"]],
])("%j does not go together, and nothing is done", async (flags) => {
  const { code, stdout, stderr } = await start([...divergent, ...flags]);
  expect(code).toBe(2);
  expect(stdout + stderr).toContain(flags.find((word) => word.startsWith("--")));
  expect(existsSync(join(folder, "x.out"))).toBe(false);
});

test("--report takes no other files and no flags of a comparison", async () => {
  const saved = file("saved.json", "{}");
  for (const words of [
    ["compare", "base.jsonl", "--report", saved],
    ["compare", "--report", saved, "--trace", "base.jsonl"],
    ["run", "scenarios", "--report", saved],
  ]) {
    const { code, stdout, stderr } = await start(words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(isOneLine(stderr)).toBe(true);
  }
});

test.each([
  ["no JSON", "{", "1:2"],
  ["no report", "{}", 'missing key "command"'],
  ["of another command", '{"command":"run"}', "run --report prints it"],
])("a file that is %s is refused in one line", async (_name, content, part) => {
  const { code, stdout, stderr } = await start([
    "compare",
    "--report",
    file("wrong.json", content),
  ]);
  expect([code, stdout]).toEqual([3, ""]);
  expect(stderr).toContain(part);
  expect(isOneLine(stderr)).toBe(true);
});

test("a file that cannot be written is told; the finding's code counts for more", async () => {
  const words = ["--junit", "no/such/folder/a.xml", "--markdown", "b.md"];
  const found = await start([...divergent, ...words]);
  expect(found.code).toBe(1);
  expect(isOneLine(found.stderr)).toBe(true);
  expect(existsSync(join(folder, "b.md"))).toBe(true);
  const equal = await start(["compare", "--trace", "base.jsonl", ...words]);
  expect(equal.code).toBe(4);
});

test("a stress run writes a report too", async () => {
  const words = ["--seeds", "0:1", "--ops", "20", "--layouts", "full+window", "--no-scenarios"];
  const { code, stdout } = await start(["stress", ...words, "--junit", "-"]);
  expect(code).toBe(0);
  expect(junitProblems(readXml(stdout))).toEqual([]);
  const saved = file("stress.json", (await start(["stress", ...words, "--json"])).stdout);
  const again = ["stress", "--report", saved];
  expect((await start([...again, "--junit", "-"])).stdout).toBe(stdout);
  expect(await start(again)).toEqual(await start(["stress", ...words]));
  const refused = await start([...again, "--seeds", "0:1"]);
  expect(refused.code).toBe(2);
});
