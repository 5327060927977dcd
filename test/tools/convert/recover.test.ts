// What is whole of a damaged trace: a legal trace whose runs are beginnings of those that were, wherever it is cut.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { Prng } from "../../../src/base/prng.js";
import { compareTrace } from "../../../src/tools/compare-trace.js";
import type { ConvertResult } from "../../../src/tools/convert/convert.js";
import { record } from "../../../src/tools/record.js";
import { validateTrace } from "../../../src/trace/validate.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { freshPath, readLines, recorded } from "../faulty-adapter.js";
import type { Line } from "../faulty-adapter.js";
import { converted, mixedSeeds } from "./inputs.js";

const trace = await recorded(mixedSeeds(0, 5, 60));
const bytes = readFileSync(trace);
const lines = readLines(trace);
const text = bytes.toString();

async function recovered(
  content: string | Uint8Array,
  name = "damaged.jsonl",
): Promise<{ path: string; result: ConvertResult }> {
  const damaged = freshPath(name);
  writeFileSync(damaged, content);
  return converted([damaged], "jsonl", { recover: true });
}

/** The `op` lines of each run. */
function operationsOf(of: readonly Line[]): Map<string, Line[]> {
  const runs = new Map<string, Line[]>();
  let run = "";
  for (const line of of) {
    if (line.kind === "run") runs.set((run = line.run), []);
    if (line.kind === "op") runs.get(run)!.push(line);
  }
  return runs;
}

/** It is valid, replays equal to its last digest, and each run is a beginning of the run that was. */
async function expectLegal(path: string): Promise<Map<string, Line[]>> {
  await validateTrace(path);
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  const compared = await compareTrace({ trace: path, start, candidate: "self" });
  expect([compared.verdict, compared.first]).toEqual(["equal", null]);
  const whole = operationsOf(lines);
  const kept = operationsOf(readLines(path));
  for (const [run, ops] of kept) {
    expect(ops.length).toBeGreaterThan(0);
    expect(ops).toEqual(whole.get(run)!.slice(0, ops.length));
  }
  return kept;
}

test("a whole trace comes out as it is, and nothing is told", async () => {
  const { path, result } = await recovered(bytes);
  expect(readFileSync(path)).toEqual(bytes);
  expect(result.recovery).toEqual({
    damages: [],
    ...{ damaged: 0, droppedLines: 0, droppedRuns: 0, droppedCalls: 0, closedRuns: 0 },
  });
});

test("cut anywhere: every operation before the cut stays", async () => {
  const random = new Prng(7);
  const header = text.indexOf("\n") + 1;
  for (let round = 0; round < 40; round++) {
    const cut = header + random.below(bytes.length - header - 1);
    const before = text.slice(0, cut);
    const wholeLines = before.split("\n").slice(0, -1);
    const operations = wholeLines.filter((line) => line.startsWith('{"kind":"op"')).length;
    if (operations === 0) continue;
    const { path, result } = await recovered(bytes.subarray(0, cut));
    // a last line that lacks its line feed alone is whole
    const isWhole = text[cut] === "\n" && before.slice(before.lastIndexOf("\n") + 1) !== "";
    const last = isWhole ? before.slice(before.lastIndexOf("\n") + 1) : "";
    const more = last.startsWith('{"kind":"op"') ? 1 : 0;
    await expectLegal(path);
    expect([cut, result.operations]).toEqual([cut, operations + more]);
    const isBetween = wholeLines.at(-1)!.startsWith('{"kind":"end"') && before.endsWith("\n");
    const isEnd = last.startsWith('{"kind":"end"');
    expect(result.recovery!.damaged).toBe(isBetween || isEnd ? 0 : 1);
  }
});

describe("damage inside", () => {
  const texts = text.trimEnd().split("\n");
  const place = texts.findIndex((line) => line.includes('"n":30,')); // in the first run
  const firstEnd = texts.findIndex((line) => line.startsWith('{"kind":"end"'));

  test.each([
    ["garbage", "\u0000\u0000\u0000"],
    ["a gap", null],
    ["an unknown operation", '{"kind":"op","n":30,"op":"tokens.grow","args":{},"ok":{}}'],
    ["a line of another run", '{"kind":"end","run":"another","ops":30}'],
    ["no UTF-8", "\ud800"],
  ])("%s ends its run; the other runs stay whole", async (_name, line) => {
    const damaged = texts.toSpliced(place, 1, ...(line === null ? [] : [line]));
    const { path, result } = await recovered(`${damaged.join("\n")}\n`);
    const kept = await expectLegal(path);
    expect([...kept.values()].map(({ length }) => length)).toEqual([30, 60, 60, 60, 60]);
    const dropped = firstEnd - place + 1 - (line === null ? 1 : 0);
    expect(result.recovery).toMatchObject({
      ...{ damaged: 1, droppedLines: dropped, droppedRuns: 0, closedRuns: 1 },
    });
    const [damage] = result.recovery!.damages;
    expect(damage).toMatchObject({ operation: 29, line: place + 1 });
  });

  test("a lost end closes the run at its last operation, whole", async () => {
    const { path, result } = await recovered(`${texts.toSpliced(firstEnd, 1).join("\n")}\n`);
    expect(readFileSync(path)).toEqual(bytes);
    expect(result.recovery).toMatchObject({ damaged: 1, droppedLines: 0, closedRuns: 1 });
  });

  test("a wrong count at the end is put right", async () => {
    const wrong = texts[firstEnd]!.replace('"ops":60', '"ops":61');
    const { path } = await recovered(`${texts.toSpliced(firstEnd, 1, wrong).join("\n")}\n`);
    expect(readFileSync(path)).toEqual(bytes);
  });

  test("a lost run line loses its run, and a repeated run is passed over", async () => {
    const second = texts.findIndex((line, at) => at > 1 && line.startsWith('{"kind":"run"'));
    const lost = await recovered(`${texts.toSpliced(second, 1).join("\n")}\n`);
    expect([...(await expectLegal(lost.path)).values()]).toHaveLength(4);
    expect(lost.result.recovery).toMatchObject({ damaged: 1, droppedLines: 61 });
    const repeated = await recovered(`${[...texts, ...texts.slice(1, firstEnd + 1)].join("\n")}\n`);
    expect(readFileSync(repeated.path)).toEqual(bytes);
    expect(repeated.result.recovery).toMatchObject({ damaged: 1, droppedRuns: 1 });
  });
});

test("a torn gzip, at its end and inside", async () => {
  const members = text
    .trimEnd()
    .split("\n")
    .map((line) => gzipSync(`${line}\n`));
  const all = Buffer.concat(members);
  for (const cut of [all.length - 3, Math.floor(all.length / 2), Math.floor(all.length / 3)]) {
    const { path, result } = await recovered(all.subarray(0, cut), "torn.jsonl.gz");
    await expectLegal(path);
    expect(result.operations).toBeGreaterThan(60);
    expect(result.recovery!.damaged).toBe(1);
  }
  const broken = Buffer.from(all);
  const middle = Buffer.concat(members.slice(0, 100)).length;
  broken.fill(0x55, middle + 12, middle + 40);
  const { path, result } = await recovered(broken, "torn.jsonl.gz");
  await expectLegal(path);
  expect(result.recovery!.damages[0]!.message).toMatch(/gzip/);
});

test("calls that were never answered become a mark, answered ones stay", async () => {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  const workloads = mixedSeeds(0, 1, 40);
  await record({ workloads, start, writer, digestDepth: "layout", intentFirst: true });
  writer.commit();
  const all = readFileSync(path, "utf8");
  const same = await recovered(all);
  expect(readFileSync(same.path, "utf8")).toBe(all);
  const texts = all.split("\n");
  const last = texts.findIndex((line) => line.startsWith('{"kind":"call","n":30,'));
  const { path: out, result } = await recovered(`${texts.slice(0, last + 1).join("\n")}\n`);
  await validateTrace(out);
  expect(result.recovery).toMatchObject({ damaged: 1, droppedCalls: 1, closedRuns: 1 });
  const { op } = JSON.parse(texts[last]!) as { op: string };
  const [mark, end] = readLines(out).slice(-2);
  expect(mark).toEqual({ kind: "mark", n: 30, text: `${op} was asked and never answered` });
  expect(end).toMatchObject({ kind: "end", ops: 30 });
});

test("nothing whole: an error, and no file", async () => {
  for (const content of ["", text.slice(0, 20), text.slice(0, text.indexOf("\n") + 100)])
    await expect(recovered(content)).rejects.toMatchObject({ exitCode: 3 });
});
