// Damage in a recorded trace hides nothing before it, whichever side it is on and however far behind it lies.
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import type { CompareResult } from "../../src/tools/outcome.js";
import { replayTrace } from "../../src/tools/replay.js";
import { freshPath, recorded, seeds } from "./faulty-adapter.js";

const start = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });
const whole = await recorded(seeds(0, 1, 900));
const lines = readFileSync(whole, "utf8").trimEnd().split("\n");
const FIRST = 2; // the line of operation 0, from 0 on
const PARTED = 120;

function written(text: readonly string[], end = "\n"): string {
  const path = freshPath();
  writeFileSync(path, text.join("\n") + end);
  return path;
}

const otherState = (line: string): string =>
  line.replace(/("digest":\{"[^"]+":")[0-9a-f]{8}/, "$100000000");
const DAMAGES: Readonly<Record<string, (line: string) => string>> = {
  "no JSON": () => "][",
  "an unknown key": (line) => line.replace(/\}$/, ',"zzz":1}'),
};

function summary(result: CompareResult): unknown[] {
  const [run] = result.runs;
  return [result.verdict, run?.verdict, run?.divergence?.n, result.error?.code];
}

// an operation that changed a state and was granted, so that both partings are possible there
const parting = lines.findIndex(
  (line, index) =>
    index >= FIRST + PARTED && line.includes('"digest":{') && line.includes('"ok":{}'),
);

test.each(Object.entries(DAMAGES))(
  "a divergence before %s, at any distance, in either order",
  async (_name, damage) => {
    const n = parting - FIRST;
    const other = [...lines];
    other[parting] = otherState(lines[parting]!);
    expect(other[parting]).not.toBe(lines[parting]);
    for (const distance of [1, 5, 100, 255, 256, 257, 600]) {
      const bad = [...other];
      bad[parting + distance] = damage(bad[parting + distance]!);
      const path = written(bad);
      const code = damage("{}") === "][" ? "trace_not_json" : "trace_schema";
      const expected = ["divergent", "divergent", n, code];
      for (const [base, candidate] of [
        [whole, path],
        [path, whole],
      ] as const)
        expect(summary(await compareFiles({ base, candidate })), `${distance}`).toEqual(expected);
      const alone = await compareTrace({ trace: path, candidate: "self", start });
      expect(summary(alone)).toEqual(expected);
    }
  },
);

test("operations that part before the end of a cut file", async () => {
  const other = lines
    .filter((_line, index) => index !== parting)
    .map((line, index) => {
      const n = index - FIRST;
      return index >= parting && line.startsWith('{"kind":"op"')
        ? line.replace(/"n":\d+/, `"n":${n}`)
        : line;
    });
  for (const kept of [parting + 3, parting + 300, lines.length - 2]) {
    const path = written(other.slice(0, kept), "\n{");
    for (const [base, candidate] of [
      [whole, path],
      [path, whole],
    ] as const) {
      const [verdict, , n, code] = summary(await compareFiles({ base, candidate }));
      expect([verdict, n, code], `${kept}`).toEqual([
        "divergent",
        parting - FIRST,
        "trace_truncated",
      ]);
    }
  }
});

test("a run that one side lacks shows beside damage in the last run, in either order", async () => {
  const all = await recorded(seeds(0, 4, 60));
  const text = readFileSync(all, "utf8").trimEnd().split("\n");
  const begins = text.flatMap((line, index) => (line.startsWith('{"kind":"run"') ? [index] : []));
  const lacking = written([...text.slice(0, begins[1]), ...text.slice(begins[2])]);
  const cut = written(text.slice(0, -9), "\n{");
  for (const [base, candidate] of [
    [lacking, cut],
    [cut, lacking],
  ] as const) {
    const result = await compareFiles({ base, candidate });
    expect([result.verdict, result.error?.code]).toEqual(["divergent", "trace_truncated"]);
    expect(result.runs.map(({ verdict }) => verdict).sort()).toEqual([
      "divergent",
      "equal",
      "equal",
      "incomplete",
    ]);
  }
});

test("a run that begins inside another without the state there is left out aloud", async () => {
  const [header, run, ...rest] = lines;
  const inner = run!
    .replace(/"source"/, '"starts_at":40,"source"')
    .replace(/"run":"[^"]+"/, '"run":"inner"');
  const operations = rest.slice(40, 60);
  const inside = [
    inner,
    ...operations,
    '{"kind":"end","run":"inner","ops":20,"digest":"0000000000000000"}',
  ];
  const both = written([header!, ...inside, run!, ...rest]);
  const only = written([header!, ...inside]);
  const result = await compareTrace({ trace: both, candidate: "self", start });
  expect(result.verdict).toBe("incomplete");
  expect(result.runs.map(({ verdict, operations: count }) => [verdict, count])).toEqual([
    ["incomplete", 20],
    ["equal", 900],
  ]);
  expect(result.runs[0]?.note).toBe("it begins at operation 40 without the state after 39");
  expect((await compareTrace({ trace: only, candidate: "self", start })).verdict).toBe(
    "incomplete",
  );
  expect((await replayTrace({ trace: both, start })).isPartial).toBe(true);
  await expect(replayTrace({ trace: only, start })).rejects.toThrow(/begin inside another/);
});

test("a run without any operation is invalid, whatever its end says", async () => {
  const [header, run] = lines;
  const end = {
    kind: "end",
    run: JSON.parse(run!).run as string,
    ops: 0,
    digest: "00ff00ff00ff00ff",
  };
  const path = written([header!, run!, JSON.stringify(end)]);
  const result = await compareTrace({ trace: path, candidate: "self", start });
  expect(summary(result)).toEqual(["invalid", "invalid", undefined, undefined]);
  expect(summary(await compareFiles({ base: path, candidate: path }))[0]).toBe("invalid");
});
