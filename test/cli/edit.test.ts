// `edit` on the command line: its answer, its exit codes, bad input.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { breakingModule, file, folder, isOneLine, linesOf, shell, start } from "./command-line.js";

const TRACE = "edit.jsonl";
const OTHER = "edit-other.jsonl";

beforeAll(async () => {
  const words = ["--ops", "60", "--layouts", "full+window"];
  expect((await start(["record", "--seeds", "0:2", ...words, "--out", TRACE])).code).toBe(0);
  expect((await start(["record", "--seeds", "2:3", ...words, "--out", OTHER])).code).toBe(0);
});

const read = (name: string): Buffer => readFileSync(join(folder, name));
const runsIn = (name: string): string[] =>
  linesOf(name).flatMap(({ kind, run }) => (kind === "run" ? [String(run)] : []));

/** A trace that validate, audit and compare find nothing in. */
async function expectLegal(name: string): Promise<void> {
  for (const words of [["validate"], ["audit"], ["compare", "--trace"]])
    expect([words, (await start([...words, name])).code]).toEqual([words, 0]);
}

describe.concurrent("exit 0", () => {
  test("a cut: what became of the operations, the summary last", async () => {
    const { code, stdout, stderr } = await start([
      "edit",
      TRACE,
      "--cut",
      "10:30",
      "--out",
      "c.jsonl",
    ]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^\d+ operations dropped$/m);
    expect(stdout).toMatch(/^2 runs answered anew by self$/m);
    expect(stdout).toMatch(/\nedited c\.jsonl: 2 runs, \d+ operations\n$/);
    await expectLegal("c.jsonl");
  });

  test("filters, several of them, packed", async () => {
    const words = ["--filter", "run=*seed-1", "--filter", "op!=ask.*", "--out", "f.jsonl.gz"];
    expect((await start(["edit", TRACE, ...words])).code).toBe(0);
    expect(runsIn("f.jsonl.gz")).toEqual(["full+window/p16/seed-1"]);
    await expectLegal("f.jsonl.gz");
    const runs = ["edit", TRACE, "--filter", "run=*seed-1", "--out", "r.jsonl"];
    expect((await start(runs)).stdout).toBe(
      "1 run left out\nedited r.jsonl: 1 run, 60 operations\n",
    );
  });

  test("a value, JSON", async () => {
    const words = ["edit", TRACE, "--substitute", "config:rows=2", "--out", "s.jsonl", "--json"];
    const { code, stdout } = await start(words);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { verdict: "edited", answered: 2 }]);
    await expectLegal("s.jsonl");
  });

  test("merged, from standard input too, and on to standard output", async () => {
    const words = ["edit", "-", "--merge", OTHER, "--out", "-"];
    const { code, stdout, stderr } = await start(words, { stdin: read(TRACE).toString() });
    expect([code, stderr]).toEqual([0, "edited standard output: 3 runs, 180 operations\n"]);
    const lines = read(OTHER).toString().split("\n");
    expect(stdout).toBe(read(TRACE).toString() + lines.slice(1).join("\n"));
    const twice = ["edit", TRACE, "--merge", TRACE, "--rename-runs", "--out", "t.jsonl.gz"];
    expect((await start(twice)).stdout).toBe(
      "2 runs renamed\nedited t.jsonl.gz: 4 runs, 240 operations\n",
    );
    expect(gunzipSync(read("t.jsonl.gz")).toString()).toContain('"run":"full+window/p16/seed-0#2"');
    await expectLegal("t.jsonl.gz");
  });

  test("a reader that goes away ends it quietly", async () => {
    const { stdout, stderr } = await shell(
      `ut edit ${TRACE} --cut 5:9 --out - | head -1 > /dev/null; echo "\${PIPESTATUS[0]}"`,
    );
    expect([stdout, stderr.includes("rror")]).toEqual(["0\n", false]);
  });
});

test("a serving run with shared prefixes: what follows a cut goes on with the lengths that are now", async () => {
  const words = ["--workload", "synthetic:5", "--requests", "60", "--layouts", "full+window+state"];
  const shared = ["--prefix-sharing", "--checkpoint", "extra_buffer", "--out", "served.jsonl.gz"];
  expect((await start(["record", ...words, ...shared])).code).toBe(0);
  const cut = [
    "edit",
    "served.jsonl.gz",
    "--cut",
    "300:900",
    "--out",
    "served-cut.jsonl.gz",
    "--json",
  ];
  const { code, stdout } = await start(cut);
  const { operations, dropped, groundless } = JSON.parse(stdout) as Record<string, number>;
  expect([code, dropped! >= 400]).toEqual([0, true]);
  expect(groundless).toBeLessThan(operations! / 4);
  await expectLegal("served-cut.jsonl.gz");
});

test("exit 1: the implementation breaks, and nothing is written", async () => {
  const broken = breakingModule(20);
  writeFileSync(join(folder, "kept.jsonl"), "kept");
  const words = ["edit", TRACE, "--cut", "40:50", "--impl", broken];
  const { code, stdout } = await start([...words, "--out", "kept.jsonl"]);
  expect([code, read("kept.jsonl").toString()]).toEqual([1, "kept"]);
  expect(stdout).toMatch(/^failed: module:\S+ broke at operation 20 \(.*nothing was written\n$/);
});

describe.concurrent("exit 2", () => {
  test.each([
    [[], /--out FILE/],
    [["--out", "x.jsonl"], /needs --filter/],
    [["--out", TRACE, "--cut", "1:2"], /is one of the traces/],
    [["--out", "x.jsonl", "--cut", "5:5"], /A:B with A below B/],
    [["--out", "x.jsonl", "--cut", "500:"], /--cut/],
    [["--out", "x.jsonl", "--filter", "op=tokens.extent"], /did you mean tokens\.extend/],
    [["--out", "x.jsonl", "--filter", "kind=a"], /run=, op= or req=/],
    [["--out", "x.jsonl", "--filter", "run=nobody"], /nothing in the trace is nobody/],
    [["--out", "x.jsonl", "--substitute", "config:row=2"], /rows/],
    [["--out", "x.jsonl", "--substitute", "config:__proto__=2"], /unknown key "__proto__"/],
    [["--out", "x.jsonl", "--substitute", "row.alloc:__proto__=2"], /unknown key "__proto__"/],
    [["--out", "x.jsonl", "--substitute", "rows=2"], /config:KEY=VALUE/],
    [["--out", "x.jsonl", "--merge", TRACE], /--rename-runs/],
    [["--out", "x.jsonl", "--cut", "1:2", "--rename-runs"], /goes with --merge/],
    [["--out", "x.jsonl", "--cut", "1:2", "--accept-truncated"], /convert --recover/],
    [["--out", "x.jsonl", "--cut", "1:2", "--impl", "slef"], /did you mean self/],
    [["--out", "-", "--cut", "1:2", "--json"], /both want standard output/],
  ])("%s", async (words, message) => {
    const { code, stdout, stderr } = await start(["edit", TRACE, ...words]);
    expect([code, isOneLine(stderr) || stdout !== ""]).toEqual([2, true]);
    expect(stderr + stdout).toMatch(message);
    expect(existsSync(join(folder, "x.jsonl"))).toBe(false);
  });

  test("standard input cannot be read twice", async () => {
    const { code, stderr } = await start(["edit", "-", "--cut", "1:2", "--out", "x.jsonl"]);
    expect([code, isOneLine(stderr)]).toEqual([2, true]);
  });
});

test("exit 3, 4, 5: a wrong file, an output that cannot be written, nobody who answers", async () => {
  const cut = file("cut.jsonl", read(TRACE).subarray(0, 5000));
  for (const trace of [cut, "none.jsonl", file("garbage.jsonl", "{]\n"), file("empty.jsonl", "")]) {
    const { code, stderr } = await start(["edit", trace, "--cut", "1:2", "--out", "x3.jsonl"]);
    expect([trace, code, isOneLine(stderr)]).toEqual([trace, 3, true]);
  }
  for (const out of ["none/x.jsonl", "/dev/full"]) {
    const { code, stderr } = await start(["edit", TRACE, "--cut", "1:2", "--out", out]);
    expect([out, code, isOneLine(stderr)]).toEqual([out, 4, true]);
  }
  for (const impl of ["cmd:exit 3", "heap:buddy"]) {
    const words = ["edit", TRACE, "--cut", "1:2", "--impl", impl, "--out", "x5.jsonl"];
    const { code, stderr } = await start(words);
    expect([impl, code, isOneLine(stderr)]).toEqual([impl, 5, true]);
  }
  for (const name of ["x3.jsonl", "x5.jsonl"]) expect(existsSync(join(folder, name))).toBe(false);
});

test("exit 6: keys that nobody knows are left out", async () => {
  const odd = file("odd.jsonl", read(TRACE).toString().replace('"n":3,', '"n":3,"odd":1,'));
  expect((await start(["edit", odd, "--cut", "9:12", "--out", "o.jsonl"])).code).toBe(3);
  const lenient = ["edit", odd, "--cut", "9:12", "--lenient", "--out", "o.jsonl"];
  const { code, stdout } = await start(lenient);
  expect(code).toBe(6);
  expect(stdout).toMatch(/\nincomplete: o\.jsonl: 2 runs, /);
});
