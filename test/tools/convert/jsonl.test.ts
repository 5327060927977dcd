// A trace comes out of a conversion as it went in, packed and unpacked; an odd order of keys becomes the canonical one.
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { freshPath, readLines, recorded } from "../faulty-adapter.js";
import { converted, heapTrace, mixedSeeds, withStates } from "./inputs.js";

test("there and back again gives the same bytes: seeds, states, a heap", async () => {
  const traces = [
    await recorded(mixedSeeds(0, 10, 80)),
    await withStates(mixedSeeds(3, 5, 30)),
    (await converted([heapTrace()], "jsonl")).path,
  ];
  for (const trace of traces) {
    const bytes = readFileSync(trace);
    const packed = await converted([trace], "jsonl", { out: freshPath("x.jsonl.gz") });
    expect(gunzipSync(readFileSync(packed.path))).toEqual(bytes);
    const back = await converted([packed.path], "jsonl");
    expect(readFileSync(back.path)).toEqual(bytes);
    expect(back.result).toMatchObject({ bytes: bytes.length, recovery: null, notes: [] });
  }
});

test("any order of keys, CR LF: the canonical line", async () => {
  const trace = await recorded(mixedSeeds(0, 2, 40));
  const odd = freshPath();
  const turned = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).reverse())
      : value;
  writeFileSync(
    odd,
    readLines(trace)
      .map((line) => `${JSON.stringify(turned(line))}\r\n`)
      .join(""),
  );
  const { path } = await converted([odd], "jsonl");
  expect(readFileSync(path)).toEqual(readFileSync(trace));
});

test("one run of several", async () => {
  const trace = await recorded(mixedSeeds(0, 3, 40));
  const lines = readLines(trace);
  const runs = lines.filter(({ kind }) => kind === "run").map(({ run }) => String(run));
  const { path, result } = await converted([trace], "jsonl", { run: runs[1]! });
  const from = lines.findIndex(({ run }) => run === runs[1]);
  const to = lines.findIndex(({ kind, run }) => kind === "end" && run === runs[1]);
  expect(readLines(path)).toEqual([lines[0], ...lines.slice(from, to + 1)]);
  expect(result).toMatchObject({ runs: 1, operations: 40 });
});
