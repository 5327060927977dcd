// Comparing bytes first never changes a result: the same verdicts, counts and divergences as reading every line.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { Prng } from "../../src/base/prng.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import { record } from "../../src/tools/record.js";
import { readEqualPart } from "../../src/trace/reader-equal.js";
import { createTraceWriter } from "../../src/trace/writer.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { fixture, freshPath, writtenImport } from "../workload/import-lines.js";
import { recorded, seeds } from "./faulty-adapter.js";

const NEVER = Number.MAX_SAFE_INTEGER;
const trace = await recorded(seeds(0, 5));
const lines = readFileSync(trace, "utf8").trimEnd().split("\n");
const runStarts = lines.flatMap((line, at) => (line.startsWith('{"kind":"run"') ? [at] : []));

function fileOf(content: readonly string[], suffix = ".jsonl"): string {
  const path = freshPath(suffix);
  const text = content.map((line) => `${line}\n`).join("");
  writeFileSync(path, suffix.endsWith(".gz") ? gzipSync(text) : text);
  return path;
}

/** The path of a recording with full states. */
async function withStates(): Promise<string> {
  const path = freshPath(".jsonl");
  const writer = createTraceWriter(path);
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  await record({ workloads: seeds(0, 1), start, writer, digestDepth: "layout", stateEvery: 16 });
  writer.commit();
  return path;
}

/** The result with and without a look at the bytes; names of files aside, both must be the same. */
async function both(base: string, candidate: string): Promise<CompareResult> {
  return (await bothOutcomes(base, candidate)) as CompareResult; // a text would fail what is expected of it
}

async function bothOutcomes(base: string, candidate: string): Promise<unknown> {
  const outcome = async (blocksFrom: number): Promise<unknown> => {
    try {
      return await compareFiles({ base, candidate, blocksFrom });
    } catch (error) {
      return String(error);
    }
  };
  const ordinary = await outcome(NEVER);
  const quick = await outcome(0);
  expect(quick).toEqual(ordinary);
  return quick;
}

/** How a comparison failed, or what ended it early. */
function said(outcome: unknown): string {
  return typeof outcome === "string" ? outcome : String((outcome as CompareResult).error);
}

const header = (note: string): string => lines[0]!.replace('"note":null', `"note":"${note}"`);
const at = (index: number, change: (line: string) => string): string[] =>
  lines.map((line, i) => (i === index ? change(line) : line));

describe("the same result as reading every line", () => {
  test("an operation that is unknown, though it begins like a long name that was met", async () => {
    const workload = {
      ops: 200,
      layout: "full+window",
      pageSize: 64,
      weights: "transfers",
    } as const;
    const loads = readFileSync(
      await recorded([0, 1, 2].map((seed) => seededWorkload({ seed, ...workload }))),
      "utf8",
    ).split("\n");
    const met = loads.flatMap((line, index) =>
      line.includes('"op":"host.load_reserve"') ? [index] : [],
    );
    expect(met.length).toBeGreaterThan(1);
    const unknown = loads.map((line, index) =>
      index === met.at(-1) ? line.replace("host.load_reserve", "host.load_reservf") : line,
    );
    const file = freshPath(".jsonl");
    writeFileSync(file, unknown.join("\n"));
    expect((await both(file, file)).error?.describe()).toMatch(/host\.load_reservf/);
  });

  const ends = lines.flatMap((line, index) => (line.startsWith('{"kind":"end"') ? [index] : []));
  const digestRules: [string, () => string[]][] = [
    [
      "an end without the digest",
      () => at(ends[0]!, (line) => line.replace(/,"digest":"\w+"/, "")),
    ],
    [
      "digests in a run without",
      () => at(1, (line) => line.replace('"digest_depth":"layout"', '"digest_depth":null')),
    ],
    ["a boot without a component", () => at(2, (line) => line.replace(/"rows":"\w+",/, ""))],
    [
      "digests though boot has none",
      () => at(2, (line) => line.replace(/,"digest":\{[^}]*\}/, "")),
    ],
    [
      "an end with a digest in a run without",
      () =>
        lines.map((line, index) =>
          index === 1 || index > ends[0]!
            ? line
            : index === ends[0]
              ? line
              : line.replace(/,"digest":\{[^}]*\}/, ""),
        ),
    ],
  ];
  test.each(digestRules)("digest rules, on both sides: %s", async (_what, make) => {
    const changed = make();
    expect(changed).not.toEqual(lines);
    const outcome = await bothOutcomes(fileOf(changed), fileOf(changed));
    expect(JSON.stringify(outcome)).toContain("igest");
    expect(outcome).not.toMatchObject({ verdict: "equal" });
  });

  test("a mark or a state out of its place, on both sides", async () => {
    const operations = lines.flatMap((line, index) =>
      line.startsWith('{"kind":"op"') ? [index] : [],
    );
    const place = operations[20]!;
    const { n } = JSON.parse(lines[place]!) as { n: number };
    const marked = (number: number): string => {
      const mark = JSON.stringify({ kind: "mark", n: number, text: "z" });
      return fileOf([...lines.slice(0, place), mark, ...lines.slice(place)]);
    };
    for (const number of [n - 1, n]) {
      const file = marked(number);
      expect((await both(file, file)).verdict).toBe("equal");
    }
    for (const number of [0, n - 2, n + 1, n + 1000]) {
      const file = marked(number);
      expect(said(await bothOutcomes(file, file))).toMatch(/mark \d+ stands before operation/);
    }
    const stated = readFileSync(await withStates(), "utf8")
      .trimEnd()
      .split("\n");
    const state = stated.findIndex((line) => line.startsWith('{"kind":"state"'));
    expect(state).toBeGreaterThan(0);
    const [line, following] = [stated[state]!, stated[state + 1]!];
    const good = fileOf(stated);
    expect((await both(good, good)).verdict).toBe("equal");
    const late = fileOf([...stated.slice(0, state), following, line, ...stated.slice(state + 2)]);
    expect(said(await bothOutcomes(late, late))).toMatch(
      /the state of operation \d+ after operation/,
    );
  });

  test("equal files, a file with itself, first lines of different length", async () => {
    expect((await both(trace, fileOf(lines))).verdict).toBe("equal");
    const result = await both(trace, trace);
    expect(result.operations).toBe(lines.filter((line) => line.startsWith('{"kind":"op"')).length);
    expect(result.runs).toHaveLength(5);
    const noted = fileOf([
      header("a longer first line than the other side has"),
      ...lines.slice(1),
    ]);
    expect((await both(trace, noted)).verdict).toBe("equal");
    expect((await both(noted, trace)).verdict).toBe("equal");
  });

  // what is compared is part of the result: effects are, where one line of a whole run has some
  test.each(["nowhere", "early", "last", "behind blocks of other lines"])(
    "effects %s",
    async (where) => {
      const places = lines.flatMap((line, index) => (line.includes('"fx":[') ? [index] : []));
      const kept = { nowhere: -1, early: places[0]! }[where] ?? places.at(-1)!;
      const changed = lines.flatMap((line, index) => {
        const { fx, ...rest } = JSON.parse(line);
        if (index !== kept) return [fx === undefined ? line : JSON.stringify(rest)];
        const text = 'one x":[ in a text'.padEnd(400_000, "-");
        const mark = JSON.stringify({ kind: "mark", n: rest.n, text });
        return where.startsWith("behind") ? [mark, mark, mark, mark, line] : [line];
      });
      const result = await both(fileOf(changed), fileOf(changed));
      expect(result.verdict).toBe("equal");
      expect(result.base?.fx).toBe(where !== "nowhere");
    },
  );

  test("packed files, and a trace of another domain", async () => {
    const packed = fileOf(lines, ".jsonl.gz");
    expect((await both(packed, trace)).verdict).toBe("equal");
    expect((await both(packed, packed)).verdict).toBe("equal");
    const heap = await writtenImport(fixture("events.replay"));
    expect((await both(heap, heap)).operations).toBe(13);
  });

  test.each(Array.from({ length: 25 }, (_, seed) => seed))(
    "a changed, missing or doubled line anywhere (seed %i)",
    async (seed) => {
      const prng = new Prng(seed, 17);
      const index = prng.between(1, lines.length - 1);
      const digit = (line: string): string =>
        line.replace(/\d(?=[^\d]*$)/, (old) => (old === "7" ? "8" : "7"));
      const changed = [
        at(index, digit),
        lines.filter((_, i) => i !== index),
        lines.flatMap((line, i) => (i === index ? [line, line] : [line])),
        lines.slice(0, index),
        at(index, (line) => line.slice(0, -3)),
      ][seed % 5]!;
      const other = fileOf(changed, seed % 2 === 0 ? ".jsonl" : ".jsonl.gz");
      await both(trace, other);
      await both(other, trace);
    },
  );

  test("runs in another order, runs that only one side has", async () => {
    const [second, third] = [runStarts[1]!, runStarts[2]!];
    const turned = [
      ...lines.slice(0, second),
      ...lines.slice(third),
      ...lines.slice(second, third),
    ];
    expect((await both(trace, fileOf(turned))).verdict).toBe("equal");
    const fewer = [...lines.slice(0, second), ...lines.slice(third)];
    expect((await both(trace, fileOf(fewer))).verdict).toBe("divergent");
    expect((await both(fileOf(fewer), trace)).verdict).toBe("divergent");
    expect((await both(trace, fileOf(lines.slice(0, third)))).verdict).toBe("divergent");
  });

  test("nothing but a first line, no file, no trace", async () => {
    const bare = fileOf(lines.slice(0, 1));
    expect(said(await bothOutcomes(bare, bare))).toMatch(/holds no runs/);
    const none = fileOf(["{}"]);
    expect(said(await bothOutcomes(none, none))).toMatch(/kind/);
    expect(await bothOutcomes(trace, "nothing-here.jsonl")).toMatch(/no such file/);
  });
});

describe("what ends the look at the bytes", () => {
  const endOf = async (content: readonly string[]): Promise<number> => {
    const path = fileOf(content);
    const part = await readEqualPart(path, path);
    return part?.runs.length ?? -1;
  };
  const second = runStarts[1]! + 4; // an operation of the second run
  const unusual: readonly [string, readonly string[]][] = [
    ["a gap in the numbers", lines.filter((_, i) => i !== second)],
    [
      "an unknown operation",
      at(second, (line) => line.replace(/"op":"[a-z.]+"/, '"op":"row.aloc"')),
    ],
    [
      "an operation of another domain",
      at(second, (line) => line.replace(/"op":"[a-z.]+"/, '"op":"heap.free"')),
    ],
    ["a line that is cut", at(second, (line) => line.slice(0, -4))],
    [
      "a second first line",
      lines.flatMap((line, i) => (i === second ? [lines[0]!, line] : [line])),
    ],
    [
      "an end with another count",
      at(runStarts[2]! - 1, (line) => line.replace(/"ops":\d+/, '"ops":1')),
    ],
  ];
  test.each(unusual)("%s: the run before it counts, its own does not", async (_, content) => {
    expect(await endOf(content)).toBe(1);
    await both(fileOf(content), fileOf(content));
  });
  test("none of them: all runs count", async () => {
    expect(await endOf(lines)).toBe(5);
  });
});
