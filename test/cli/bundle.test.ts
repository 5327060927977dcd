// A bundle is a trace that every command reads, with the report in its first line and nothing of this machine.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { reportWithoutFolders, withoutFolders } from "../../src/tools/bundle-words.js";
import { file, folder, isOneLine, linesOf, root, start } from "./command-line.js";

const candidate = `module:${join(root, "examples", "lifo-holes.mjs")}`;
const trace = join(folder, "base.jsonl");
type Line = ReturnType<typeof JSON.parse>;

let report = "";
let divergent: string[] = [];

beforeAll(async () => {
  const words = ["record", "--seeds", "0:2", "--ops", "60", "--out", "base.jsonl"];
  expect((await start(words)).code).toBe(0);
  const compared = await start(["compare", "--trace", trace, "--candidate", candidate, "--json"]);
  report = file("report.json", compared.stdout);
  const { runs } = JSON.parse(compared.stdout);
  divergent = runs.flatMap((run: { run: string; verdict: string }) =>
    run.verdict === "divergent" ? [run.run] : [],
  );
  expect(divergent.length).toBeGreaterThan(0);
  expect(divergent.length).toBeLessThan(runs.length);
});

test("it holds the divergent runs and the report; compare finds the same in it", async () => {
  const words = ["bundle", "--trace", trace, "--report", report];
  const made = await start([...words, "--out", "a.jsonl.gz", "--json"]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  const lines = linesOf("a.jsonl.gz");
  const runs = lines.filter(({ kind }) => kind === "run").map(({ run }) => run);
  expect(runs).toEqual(divergent);
  const { x_bundle: about } = lines[0];
  expect(Object.keys(about)).toEqual(["version", "tool", "environment", "trace", "report"]);
  const told = JSON.parse(readFileSync(join(folder, report), "utf8"));
  expect(about.report.first).toEqual(told.first);
  expect(about.report.base.trace).toBe(about.trace);
  expect(about.environment.node).toBe(process.versions.node);
  const again = ["compare", "--trace", "a.jsonl.gz", "--candidate", candidate, "--json"];
  const compared = await start(again);
  expect(compared.code).toBe(1);
  expect(JSON.parse(compared.stdout).first).toEqual(told.first);
  await start([...words, "--out", "b.jsonl.gz"]);
  const [first, second] = ["a", "b"].map((name) => readFileSync(join(folder, `${name}.jsonl.gz`)));
  expect(first?.equals(second!)).toBe(true);
});

test("--all and no report keep every run; nothing names a folder of this machine", async () => {
  await start(["bundle", "--trace", trace, "--report", report, "--all", "--out", "all.jsonl"]);
  const { code, stdout } = await start(["bundle", "--trace", trace, "--out", "whole.jsonl"]);
  expect([code, stdout]).toEqual([0, "bundled whole.jsonl: 4 runs, 240 operations\n"]);
  const body = (name: string): unknown[] => linesOf(name).slice(1);
  expect(body("all.jsonl")).toEqual(body("whole.jsonl"));
  expect(body("whole.jsonl")).toEqual(linesOf("base.jsonl").slice(1));
  const text = readFileSync(join(folder, "all.jsonl"), "utf8");
  for (const part of [folder, root]) expect(text).not.toContain(part);
});

test("a report of another trace, a missing flag, the trace as output: refused, nothing written", async () => {
  await start(["record", "--seeds", "5:6", "--ops", "20", "--out", "other.jsonl"]);
  const cases: readonly [number, readonly string[]][] = [
    [3, ["--trace", "other.jsonl", "--report", report, "--out", "c.jsonl"]],
    [2, ["--trace", trace]],
    [2, ["--out", "c.jsonl"]],
    [2, ["--trace", trace, "--out", trace]],
    [2, ["--trace", trace, "--out", "c.tar"]],
    [3, ["--trace", "none.jsonl", "--out", "c.jsonl"]],
  ];
  const before = readFileSync(trace);
  for (const [code, words] of cases) {
    const made = await start(["bundle", ...words]);
    expect([words, made.code]).toEqual([words, code]);
    expect(isOneLine(made.stderr)).toBe(true);
  }
  expect(readFileSync(trace).equals(before)).toBe(true);
  expect(() => readFileSync(join(folder, "c.jsonl"))).toThrow();
});

test.each([
  ["checkout:/home/someone/other", "checkout:other"],
  [
    "unified-trace compare --trace '/data/a b/x.jsonl' --run r/p16",
    "unified-trace compare --trace 'x.jsonl' --run r/p16",
  ],
  ["file:///srv/app/main.mjs:12:3", "main.mjs:12:3"],
  ["C:\\Users\\me\\x.py", "x.py"],
  ["~/secret/x.py", "x.py"],
  ["full+window/p16/seed-0", "full+window/p16/seed-0"],
  ["1/2 and a / b", "1/2 and a / b"],
])("%s becomes %s", (text, expected) => {
  expect(withoutFolders(text)).toBe(expected);
});

test("specs with spaces in their folders lose them; values of answers stay", () => {
  const report = { spec: "checkout:/home/Some One/x", file: "/home/Some One/y.jsonl" };
  const fields = [{ path: "/ok/pages/r1", base: "/ok/a", candidate: null }];
  expect(reportWithoutFolders({ ...report, fields })).toEqual({
    ...{ spec: "checkout:x", file: "y.jsonl" },
    fields,
  });
});

test("--anonymize: other words in trace and report, and compare finds in it what the report says", async () => {
  const words = ["bundle", "--trace", trace, "--report", report, "--anonymize"];
  const made = await start([...words, "--out", "secret.jsonl.gz"]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  const lines = linesOf("secret.jsonl.gz");
  const { x_bundle: about } = lines[0];
  const old = JSON.parse(readFileSync(join(folder, report), "utf8"));
  expect(about.trace).toBeNull();
  expect(about.report.first.n).toBe(old.first.n);
  expect(about.report.base).toMatchObject({ spec: "bundle", trace: null, config_hash: null });
  expect(about.report.candidates[0]).toMatchObject({
    spec: "candidate-1",
    name: old.candidates[0].name,
  });
  // names of the seeded runs, their ids, and the files of this machine; a word in place of an id may be digits alone, sixteen of them
  const text = gunzipSync(readFileSync(join(folder, "secret.jsonl.gz"))).toString();
  for (const word of [
    /"r\d{1,9}"/,
    /"f\d{1,9}"/,
    /seed-\d/,
    /lifo-holes\.mjs/,
    /base\.jsonl/,
    /\/r\d{1,9}\//,
  ]) {
    expect(text).not.toMatch(word);
  }
  const again = ["compare", "--trace", "secret.jsonl.gz", "--candidate", candidate, "--json"];
  const found = JSON.parse((await start(again)).stdout);
  const told = about.report.runs.filter((run: { verdict: string }) => run.verdict === "divergent");
  expect(found.runs.map((run: { run: string }) => run.run)).toEqual(
    told.map((run: { run: string }) => run.run),
  );
  expect(found.runs.length).toBeGreaterThan(0);
  for (const [index, { divergence }] of found.runs.entries()) {
    const { states: _states, ...expected } = divergence;
    const bare = (each: Line): Line => ({ ...each, answer: { ...each.answer, digest: 0 } });
    const { states: _told, ...given } = told[index].divergence;
    expect({ ...given, before: given.before.map(bare) }).toEqual({
      ...expected,
      before: expected.before.map(bare),
    });
  }
});

test("--salt without --anonymize is refused; an implementation that breaks leaves no bundle", async () => {
  const salted = await start(["bundle", "--trace", trace, "--salt", "x", "--out", "no.jsonl"]);
  expect(salted.code).toBe(2);
  const words = ["bundle", "--trace", trace, "--anonymize", "--impl", "cmd:exit 3"];
  expect((await start([...words, "--out", "no.jsonl"])).code).toBe(5);
  expect(() => readFileSync(join(folder, "no.jsonl"))).toThrow();
});

test("compare --report prints what a bundle holds, as compare printed it; a trace without one is refused", async () => {
  const words = ["bundle", "--trace", trace, "--report", report];
  for (const [name, more] of [
    ["told.jsonl.gz", []],
    ["told-anonymous.jsonl", ["--anonymize"]],
  ] as const) {
    await start([...words, ...more, "--out", name]);
    const held = linesOf(name)[0].x_bundle.report;
    const saved = file("held.json", JSON.stringify(held));
    const [first, second] = [
      ["--report", name],
      ["--report", saved],
    ].map((flags) => start(["compare", ...flags]));
    const printed = await first!;
    expect(printed).toEqual(await second!);
    expect(printed.code).toBe(1);
    expect(printed.stdout).toMatch(/^divergent/m);
    const json = await start(["compare", "--report", name, "--json"]);
    expect(JSON.parse(json.stdout)).toEqual(held);
  }
  await start(["bundle", "--trace", trace, "--out", "bare.jsonl"]);
  for (const [name, message] of [
    ["bare.jsonl", /bundle without a report/],
    ["base.jsonl", /trace and no bundle/],
  ] as const) {
    const refused = await start(["compare", "--report", name]);
    expect([refused.code, isOneLine(refused.stderr)]).toEqual([3, true]);
    expect(refused.stderr).toMatch(message);
  }
});
