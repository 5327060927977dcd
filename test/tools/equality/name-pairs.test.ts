// Two recorded traces in mode `renamed`: names, hashes of keys and ids in arguments are translated by one bijection.
import { describe, expect, test } from "vitest";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { Prng } from "../../../src/base/prng.js";
import { anonymizeTrace } from "../../../src/tools/anonymize/anonymize.js";
import { compareFiles } from "../../../src/tools/compare-files.js";
import { createTraceWriter } from "../../../src/trace/writer.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { seededWorkload, WEIGHT_NAMES } from "../../../src/workload/seeded.js";
import { freshPath, readLines, recorded, writeLines } from "../faulty-adapter.js";
import type { Line } from "../faulty-adapter.js";

/** The trace in other words, under the same ids of runs. */
async function otherWords(trace: string, salt: string): Promise<string> {
  const path = freshPath();
  const writer = createTraceWriter(path);
  const start = async (): Promise<InProcessAdapter> => new InProcessAdapter({ device: "none" });
  await anonymizeTrace({ trace, writer, salt, implementation: { spec: "self", start } });
  writer.commit();
  const runs = readLines(trace).flatMap((line) => (line.kind === "run" ? [line.run] : []));
  let at = -1;
  return writeLines(
    readLines(path).map((line) => {
      if (line.kind === "run") at += 1;
      return line.kind === "run" || line.kind === "end" ? { ...line, run: runs[at] } : line;
    }),
  );
}

const verdicts = async (base: string, candidate: string): Promise<unknown[]> => {
  const { verdict, first } = await compareFiles({ base, candidate, mode: "renamed" });
  return [verdict, first?.n ?? null];
};

describe.each(WEIGHT_NAMES)("%s", (weights) => {
  const recording = recorded(
    LAYOUTS.slice(0, 3).map((layout, seed) =>
      seededWorkload({ seed, ops: 120, layout, pageSize: 4, weights }),
    ),
  );

  test("a trace equals itself in other words, whichever is the base", async () => {
    const trace = await recording;
    const [one, two] = [await otherWords(trace, "one"), await otherWords(trace, "two")];
    expect(await verdicts(trace, one)).toEqual(["equal", null]);
    expect(await verdicts(one, trace)).toEqual(["equal", null]);
    expect(await verdicts(one, two)).toEqual(["equal", null]);
  });

  test("one name that stands for two is met where it first shows", async () => {
    const trace = await recording;
    const other = readLines(await otherWords(trace, "one"));
    const prng = new Prng(5);
    const opened: string[] = other.flatMap(({ op, args }: Line) =>
      op === "row.alloc" ? args.reqs.slice(0, 1) : [],
    );
    for (let trial = 0; trial < 4; trial++) {
      // a use of a request that names another one from here on
      const [left, right] = [
        opened[prng.below(opened.length)]!,
        opened[prng.below(opened.length)]!,
      ];
      if (left === right) continue;
      const at = other.findIndex(
        ({ kind, op, args }: Line) =>
          kind === "op" && op === "tokens.decode" && JSON.stringify(args).includes(left),
      );
      if (at < 0) continue;
      const changed = other.map((line: Line, i) =>
        i === at
          ? { ...line, args: JSON.parse(JSON.stringify(line.args).replaceAll(left, right)) }
          : line,
      );
      const [verdict, n] = await verdicts(trace, writeLines(changed));
      expect(verdict).toBe("divergent");
      expect(n).toBeLessThanOrEqual(other[at].n);
    }
  });
});

test("ids in arguments are those of the candidate", async () => {
  const [inner] = [seededWorkload({ seed: 4, ops: 200, layout: "full+window", pageSize: 4 })];
  const lines = readLines(await recorded([inner]));
  // every owner id one further: a renaming, in answers and in what is asked of them
  const moved = (value: unknown, key = ""): unknown => {
    if (key === "virtual")
      return (value as [number, number][]).map(([id, count]) => [
        id === 0 ? 0 : id + 100_000,
        count,
      ]);
    if (Array.isArray(value)) return value.map((item) => moved(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, moved(item, name)]),
    );
  };
  const other = lines.map((line) => (line.kind === "op" ? moved(line) : line));
  expect(lines.some(({ op, args }) => op === "ask.translate" && args.virtual !== undefined)).toBe(
    true,
  );
  expect(await verdicts(writeLines(lines), writeLines(other))).toEqual(["equal", null]);
});
