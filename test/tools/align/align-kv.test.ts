// Edits planted in a recorded trace of domain kv are found as exactly those blocks, with every name of one side another
// one; and the verdict depends neither on the order of the arguments nor on key order, times and call sites.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { compareFiles } from "../../../src/tools/compare-files.js";
import type { Alignment } from "../../../src/tools/align/alignment.js";
import { readLines, recorded, seeds, writeLines } from "../faulty-adapter.js";
import type { Line } from "../faulty-adapter.js";

const trace = await recorded(seeds(0, 1, 300));
const lines = readLines(trace);
const [head, run, ...rest] = lines;
const operations: Line[] = rest.filter(({ kind }) => kind === "op");

/** A trace with these operations, numbered anew and without digests, which would tell of every edit. */
function traceOf(list: readonly Line[]): string {
  const numbered = list.map(({ digest: _, ...line }, n) => ({ ...line, n }));
  const { digest_depth: _, ...plain } = run;
  return writeLines([head, plain, ...numbered, { kind: "end", run: run.run, ops: list.length }]);
}

async function alignmentOf(
  base: readonly Line[],
  candidate: readonly Line[],
): Promise<Alignment | null> {
  const result = await compareFiles({ base: traceOf(base), candidate: traceOf(candidate) });
  return result.runs[0]?.alignment ?? null;
}

/** Every request, forward, copy, load and transfer under another name, in arguments and answers. */
function underOtherNames(line: Line): Line {
  const text = JSON.stringify(line).replaceAll(/"([rfclt])(\d+)"/g, '"$1x$2"');
  return JSON.parse(text);
}

const question = (mark: number): Line => ({
  kind: "op",
  op: "ask.fits",
  args: { demand: { full: 500_000 + mark } },
  ok: { fits: false },
});
const request = (mark: number): Line[] => [
  {
    kind: "op",
    op: "row.alloc",
    args: { reqs: [`r9${mark}`] },
    ok: { rows: { [`r9${mark}`]: 1 } },
  },
  question(mark),
  { kind: "op", op: "row.free", args: { req: `r9${mark}` }, ok: {} },
];

describe.each(Array.from({ length: 12 }, (_, seed) => seed))("seed %i", (seed) => {
  const prng = new Prng(seed, 41);
  const [base, candidate]: [Line[], Line[]] = [[], []];
  const planted: object[] = [];
  let since = 0;
  for (const [index, line] of operations.entries()) {
    since += 1;
    if (index > 1 && since > 12 && prng.chance(1, 15)) {
      since = 0;
      const [i, j] = [base.length, candidate.length];
      const block = prng.chance(1, 2) ? request(index) : [question(index)];
      if (prng.chance(1, 2)) {
        candidate.push(...block);
        planted.push({ kind: "inserted", base: [i, i], candidate: [j, j + block.length] });
      } else {
        base.push(...block);
        planted.push({ kind: "removed", base: [i, i + block.length], candidate: [j, j] });
      }
    }
    base.push(line);
    candidate.push(line);
  }
  const places = (alignment: Alignment | null): unknown =>
    alignment?.blocks.map(({ kind, base: left, candidate: right }) => ({
      kind,
      base: [left.from, left.to],
      candidate: [right.from, right.to],
    }));

  test("the planted blocks", async () => {
    expect(places(await alignmentOf(base, candidate))).toEqual(planted);
  });

  test("the planted blocks, with other names on one side", async () => {
    expect(places(await alignmentOf(base, candidate.map(underOtherNames)))).toEqual(planted);
  });

  test("the other way round", async () => {
    const kinds = { inserted: "removed", removed: "inserted" };
    const turned = (
      planted as { kind: "inserted" | "removed"; base: number[]; candidate: number[] }[]
    ).map((block) => ({ kind: kinds[block.kind], base: block.candidate, candidate: block.base }));
    expect(places(await alignmentOf(candidate, base))).toEqual(turned);
  });
});

test("other names alone: nothing is missing and nothing more", async () => {
  const alignment = await alignmentOf(operations, operations.map(underOtherNames));
  expect(alignment).toMatchObject({ blocks: [], recovers: null, isWhole: true });
  expect(alignment?.read).toEqual({ base: alignment?.agreed, candidate: alignment?.agreed });
  expect(alignment?.agreed).toBeGreaterThan(operations.length - 10); // those with names
});

describe("what a verdict does not depend on", () => {
  const shuffled = (value: unknown, prng: Prng): unknown => {
    if (Array.isArray(value)) return value.map((item) => shuffled(item, prng));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    for (let i = entries.length - 1; i > 0; i--) {
      const j = prng.below(i + 1);
      [entries[i], entries[j]] = [entries[j]!, entries[i]!];
    }
    return Object.fromEntries(entries.map(([key, member]) => [key, shuffled(member, prng)]));
  };
  const disguised = (list: readonly Line[], seed: number): Line[] => {
    const prng = new Prng(seed, 43);
    return list.map((line) => {
      const timed =
        line.kind === "op"
          ? { ...line, at_us: prng.between(0, 10_000), site: `s${prng.below(9)}` }
          : line;
      return shuffled(timed, prng) as Line;
    });
  };

  test.each([1, 2, 3, 4])("key order, times, call sites (seed %i)", async (seed) => {
    const other = writeLines(disguised(lines, seed));
    for (const [base, candidate] of [
      [trace, other],
      [other, trace],
    ] as const) {
      const result = await compareFiles({ base, candidate });
      expect(result.verdict).toBe("equal");
      expect(result.operations).toBe(operations.length);
    }
    const short = writeLines(
      disguised(
        [...lines.slice(0, 60), ...lines.slice(61)].map((line, at) =>
          line.kind === "op"
            ? { ...line, n: at - 2 }
            : line.kind === "end"
              ? { ...line, ops: line.ops - 1 }
              : line,
        ),
        seed,
      ),
    );
    const there = await compareFiles({ base: other, candidate: short });
    const back = await compareFiles({ base: short, candidate: other });
    expect([there.verdict, back.verdict]).toEqual(["divergent", "divergent"]);
    expect(back.first).toEqual(there.first);
  });
});
