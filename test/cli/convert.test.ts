// `convert` on the command line: its answer, its exit codes, bad input, outputs that cannot be written.
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { breakingModule, file, folder, isOneLine, shell, start } from "./command-line.js";

const TRACE = "convert.jsonl";
const OTHER = "convert-other.jsonl";
const CUT = "convert-cut.jsonl";

beforeAll(async () => {
  const words = ["--ops", "60", "--layouts", "full+window"];
  expect((await start(["record", "--seeds", "0:2", ...words, "--out", TRACE])).code).toBe(0);
  expect((await start(["record", "--seeds", "1:2", ...words, "--out", OTHER])).code).toBe(0);
  const text = readFileSync(join(folder, TRACE), "utf8");
  writeFileSync(join(folder, CUT), text.slice(0, -200));
});

const read = (name: string): Buffer => readFileSync(join(folder, name));

describe.concurrent("exit 0", () => {
  test("the suffix tells the format, the last line sums up", async () => {
    const packed = await start(["convert", TRACE, "--out", "c.jsonl.gz"]);
    expect([packed.code, packed.stderr]).toEqual([0, ""]);
    expect(packed.stdout).toMatch(
      /^converted c\.jsonl\.gz: 2 runs, 120 operations, jsonl, \d+ B \(.*\)\n$/,
    );
    expect(gunzipSync(read("c.jsonl.gz"))).toEqual(read(TRACE));
    for (const [name, format] of [
      ["c.csv", "csv"],
      ["c.parquet", "parquet"],
      ["c.perfetto.json", "perfetto"],
      ["c.perfetto.json.gz", "perfetto"],
    ]) {
      const { code, stdout } = await start(["convert", TRACE, "--out", name!]);
      expect([code, stdout.includes(`120 operations, ${format!}, `)]).toEqual([0, true]);
      expect(existsSync(join(folder, name!))).toBe(true);
    }
    expect(gunzipSync(read("c.perfetto.json.gz"))).toEqual(read("c.perfetto.json"));
  });

  test("--out - needs --to, and the summary goes to standard error", async () => {
    const { code, stdout, stderr } = await start(["convert", TRACE, "--to", "jsonl", "--out", "-"]);
    expect([code, stdout]).toEqual([0, read(TRACE).toString()]);
    expect(stderr).toMatch(/^converted standard output: 2 runs, 120 operations/);
  });

  test("standard input, a closed pipe, two sides", async () => {
    const stdin = read(TRACE).toString();
    const piped = await start(["convert", "-", "--out", "piped.csv"], { stdin });
    expect(piped.code).toBe(0);
    const head = await shell(
      `ut convert ${TRACE} --to perfetto --out - | head -2; echo "\${PIPESTATUS[0]}"`,
    );
    expect([head.stdout.split("\n").at(-2), head.stderr.includes("rror")]).toEqual(["0", false]);
    const both = ["convert", TRACE, "--with", OTHER, "--out", "both.perfetto.json"];
    expect((await start(both)).stdout).toMatch(/converted .*: 3 runs, 180 operations, perfetto/);
  });

  test("one run", async () => {
    const words = ["convert", TRACE, "--run", "full+window/p16/seed-1", "--out", "one.jsonl"];
    expect((await start(words)).stdout).toMatch(/: 1 run, 60 operations/);
    expect((await start(["validate", "one.jsonl"])).code).toBe(0);
  });
});

describe.concurrent("exit 2", () => {
  test.each([
    [[], /--out FILE/],
    [["--out", "x.txt"], /tells no format/],
    [["--out", "-"], /tells no format/],
    [["--out", "x.csv", "--to", "cvs"], /did you mean csv/],
    [["--out", "x.parquet.gz"], /takes no \.gz/],
    [["--out", "x.csv", "--with", OTHER], /goes with that/],
    [["--out", "x.json", "--with", OTHER, "--recover"], /about one trace/],
    [["--out", "x.jsonl", "--recover", "--accept-truncated"], /give one of them/],
    [["--out", TRACE], /is the trace itself/],
    [["--to", "csv", "--out", "-", "--json"], /both want standard output/],
    [["--out", "x.jsonl", "--run", "full+window/p16/seed-7"], /holds no such run/],
  ])("%s", async (words, message) => {
    const { code, stdout, stderr } = await start(["convert", TRACE, ...words]);
    expect([code, isOneLine(stderr) || stdout !== ""]).toEqual([2, true]);
    expect(stderr + stdout).toMatch(message);
    for (const name of ["x.csv", "x.jsonl", "x.json"])
      expect(existsSync(join(folder, name))).toBe(false);
  });
});

describe.concurrent("exit 3 and 4: the file under the name stays as it was", () => {
  test.each(["k.csv", "k.parquet", "k.perfetto.json", "k.jsonl.gz"])("%s", async (out) => {
    writeFileSync(join(folder, out), "kept");
    const inputs = [
      CUT,
      "none.jsonl",
      file("garbage.jsonl", "{]\n"),
      file("empty.jsonl", ""),
      file("wrong.jsonl.gz", "no gzip"),
    ];
    for (const input of inputs) {
      const { code, stdout, stderr } = await start(["convert", input, "--out", out]);
      expect([code, stdout, isOneLine(stderr)]).toEqual([3, "", true]);
    }
    expect(read(out).toString()).toBe("kept");
  });

  test("no folder, a file as folder, a circle of links, a long name, a full disk, .zst", async () => {
    symlinkSync("circle.csv", join(folder, "circle.csv"));
    const wrong = [`${TRACE}/x.csv`, "circle.csv", `${"x".repeat(300)}.csv`];
    for (const out of ["none/x.csv", "x.csv.zst", ...wrong]) {
      const { code, stderr } = await start(["convert", TRACE, "--to", "csv", "--out", out]);
      expect([code, isOneLine(stderr)]).toEqual([4, true]);
    }
    for (const to of ["csv", "parquet", "perfetto", "jsonl"]) {
      const { code, stderr } = await start(["convert", TRACE, "--to", to, "--out", "/dev/full"]);
      expect([to, code, isOneLine(stderr)]).toEqual([to, 4, true]);
    }
  });
});

describe.concurrent("exit 6", () => {
  test("--accept-truncated: the complete part, told", async () => {
    const { code, stdout } = await start([
      ...["convert", CUT, "--accept-truncated", "--out", "part.csv"],
    ]);
    expect(code).toBe(6);
    expect(stdout).toMatch(/truncated after operation \d+ of run .*\nincomplete part\.csv: 2 runs/);
  });

  test("--recover: a legal trace, and what was dropped", async () => {
    const { code, stdout } = await start(["convert", CUT, "--recover", "--out", "whole.jsonl"]);
    expect(code).toBe(6);
    expect(stdout).toMatch(/^line \d+: run .*, after operation \d+: not JSON: /);
    expect(stdout).toMatch(/\n1 line dropped, 1 run closed\nrecovered whole\.jsonl: 2 runs, /);
    expect((await start(["validate", "whole.jsonl"])).code).toBe(0);
    expect((await start(["compare", "--trace", "whole.jsonl"])).code).toBe(0);
    expect((await start(["audit", "whole.jsonl"])).code).toBe(0);
    const whole = await start(["convert", TRACE, "--recover", "--out", "same.jsonl"]);
    expect([whole.code, read("same.jsonl").equals(read(TRACE))]).toEqual([0, true]);
  });

  test("what a broken implementation left beside a recording", async () => {
    const broken = breakingModule(20);
    const words = ["record", "--impl", broken, "--seeds", "0:1", "--crash-safe"];
    expect((await start([...words, "--out", "crash.jsonl"])).code).toBe(1);
    const made = await start([
      ...["convert", "crash.jsonl.partial", "--recover", "--out", "crash-kept.jsonl", "--json"],
    ]);
    const { recovery, operations } = JSON.parse(made.stdout) as {
      recovery: { dropped_calls: number };
      operations: number;
    };
    expect([made.code, operations, recovery.dropped_calls]).toEqual([6, 20, 1]);
    expect((await start(["validate", "crash-kept.jsonl"])).code).toBe(0);
  });
});
