// Alignment past the first difference: planted edits are found as exactly those blocks, and swapping the sides swaps
// inserted and removed and nothing else.
import { describe, expect, test } from "vitest";
import { Prng } from "../../../src/base/prng.js";
import { Aligner } from "../../../src/tools/align/align.js";
import type { AlignedBlock, Alignment } from "../../../src/tools/align/alignment.js";
import type { FormedLine } from "../../../src/tools/align/forms.js";
import { named, plantEdits, randomSteps } from "./planted.js";
import type { Step } from "./planted.js";

function aligned(
  base: readonly FormedLine[],
  candidate: readonly FormedLine[],
  limit = Infinity,
): Alignment {
  const aligner = new Aligner(limit);
  for (const line of base) aligner.add("base", line);
  for (const line of candidate) aligner.add("candidate", line);
  return aligner.run();
}

const placesOf = ({ kind, base, candidate }: AlignedBlock): object => ({
  kind,
  base: [base.from, base.to],
  candidate: [candidate.from, candidate.to],
});

/** The same alignment seen from the other side. */
function turned(alignment: Alignment): Alignment {
  const turn = <T extends { base: number; candidate: number }>(counts: T): T => ({
    ...counts,
    base: counts.candidate,
    candidate: counts.base,
  });
  const kinds = {
    inserted: "removed",
    removed: "inserted",
    moved: "moved",
    changed: "changed",
  } as const;
  return {
    ...alignment,
    blocks: alignment.blocks.map((block) => ({
      ...block,
      kind: kinds[block.kind],
      base: block.candidate,
      candidate: block.base,
      operations: turn(block.operations),
      summary: block.summary.map(turn),
      opens: block.opens.map(turn),
    })),
    read: turn(alignment.read),
    recovers: alignment.recovers === null ? null : turn(alignment.recovers),
  };
}

function expectBooksAgree({ blocks, agreed, read }: Alignment): void {
  for (const side of ["base", "candidate"] as const) {
    const inBlocks = blocks.reduce((total, { operations }) => total + operations[side], 0);
    expect(agreed + inBlocks).toBe(read[side]);
  }
}

const seeds = Array.from({ length: 60 }, (_, seed) => seed);

describe("planted edits", () => {
  test.each(seeds)("are found as exactly those blocks (seed %i)", (seed) => {
    const steps = randomSteps(new Prng(seed), 40 + 7 * seed, 200);
    const { base, candidate, edits } = plantEdits(seed, steps, 6);
    const result = aligned(named(base), named(candidate));
    const inOrder = [...result.blocks].sort((one, other) => one.base.from - other.base.from);
    expect(inOrder.map(placesOf)).toEqual(edits);
    expect(result.isWhole).toBe(true);
    expectBooksAgree(result);
    expect(aligned(named(candidate), named(base))).toEqual(turned(result));
  });

  test.each(seeds)(
    "where everything looks alike: never more than was planted (seed %i)",
    (seed) => {
      const steps = randomSteps(new Prng(seed, 3), 150, 1);
      const { base, candidate, edits } = plantEdits(seed, steps, 8);
      const result = aligned(named(base), named(candidate));
      expectBooksAgree(result);
      const planted = edits.reduce(
        (sum, edit) => sum + edit.base[1] - edit.base[0] + edit.candidate[1] - edit.candidate[0],
        0,
      );
      const found = result.blocks.reduce(
        (sum, { operations }) => sum + operations.base + operations.candidate,
        0,
      );
      expect(found).toBeLessThanOrEqual(planted);
      expect(aligned(named(candidate), named(base))).toEqual(turned(result));
    },
  );

  test.each(seeds.slice(0, 20))(
    "two runs with nothing in common but the kinds of operation (seed %i)",
    (seed) => {
      const left = named(randomSteps(new Prng(seed, 4), 120, 3));
      const right = named(randomSteps(new Prng(seed, 5), 140, 3));
      const result = aligned(left, right);
      expectBooksAgree(result);
      expect(aligned(right, left)).toEqual(turned(result));
      expect(aligned(left, right)).toEqual(result);
    },
  );
});

const make = (pool: string, type: string): Step => ({
  op: "pool.make",
  args: { pool, type, args: [] },
});
const alloc = (object: string, pool: string, size = 32): Step => ({
  op: "heap.alloc",
  args: { object, pool, size_bytes: size },
});
const free = (object: string): Step => ({ op: "heap.free", args: { object } });

function pool(name: string, type: string): Step[] {
  return [
    make(name, type),
    alloc(`${name}a`, name),
    free(`${name}a`),
    alloc(`${name}b`, name),
    free(`${name}b`),
  ];
}

describe("names", () => {
  const steps = [...pool("A", "one"), ...pool("B", "two"), ...pool("C", "three")];

  test("other names alone are no difference", () => {
    const result = aligned(named(steps), named(steps, "x"));
    expect(result.blocks).toEqual([]);
    expect(result.agreed).toBe(steps.length);
    expect(result.recovers).toBeNull();
  });

  test("a pool more, between pools that do the same: one block that begins with the pool", () => {
    const more = [
      ...pool("A", "one"),
      ...pool("X", "more"),
      ...pool("B", "two"),
      ...pool("C", "three"),
    ];
    const result = aligned(named(steps), named(more));
    expect(result.blocks.map(placesOf)).toEqual([
      { kind: "inserted", base: [5, 5], candidate: [5, 10] },
    ]);
    expect(result.blocks[0]).toMatchObject({
      operations: { base: 0, candidate: 5 },
      opens: [
        { what: "object", candidate: 2 },
        { what: "pool", candidate: 1 },
      ],
    });
    expect(result.recovers).toEqual({ base: 5, candidate: 10 });
  });

  test("an object more that lives over others: two blocks of one cause", () => {
    const more = [
      ...steps.slice(0, 5),
      alloc("X", "A", 999),
      ...steps.slice(5, 10),
      free("X"),
      ...steps.slice(10),
    ];
    const { blocks } = aligned(named(steps), named(more));
    expect(blocks.map(placesOf)).toEqual([
      { kind: "inserted", base: [5, 5], candidate: [5, 6] },
      { kind: "inserted", base: [10, 10], candidate: [11, 12] },
    ]);
    expect(blocks.map(({ cause }) => cause)).toEqual([0, 0]);
  });

  test("an object of another size stays the same object", () => {
    const other = steps.map((step) =>
      step.args["object"] === "Ba" && step.op === "heap.alloc" ? alloc("Ba", "B", 77) : step,
    );
    const { blocks } = aligned(named(steps), named(other));
    expect(blocks.map(placesOf)).toEqual([{ kind: "changed", base: [6, 7], candidate: [6, 7] }]);
  });

  test("a free of another object is a difference, though it looks the same", () => {
    const two = [make("A", "one"), alloc("a", "A"), alloc("b", "A"), free("a"), alloc("c", "A", 5)];
    const other = [
      make("A", "one"),
      alloc("a", "A"),
      alloc("b", "A"),
      free("b"),
      alloc("c", "A", 5),
    ];
    const result = aligned(named(two), named(other));
    expect(result.blocks.length).toBeGreaterThan(0);
  });
});

describe("limits", () => {
  test("what a cut hides is no block, and the result says that it is not whole", () => {
    const steps = randomSteps(new Prng(9), 500, 200);
    const more = [
      ...steps.slice(0, 50),
      alloc("X", "pool1", 999_999),
      free("X"),
      ...steps.slice(50),
    ];
    const result = aligned(named(steps), named(more), 300);
    expect(result.isWhole).toBe(false);
    expect(result.read).toEqual({ base: 300, candidate: 300 });
    expect(result.blocks.map(placesOf)).toEqual([
      { kind: "inserted", base: [50, 50], candidate: [50, 52] },
    ]);
    expect(result.recovers).toEqual({ base: 50, candidate: 52 });
  });

  test("a block as long as what is around it, and 10,000 operations, in little time", () => {
    const steps = randomSteps(new Prng(10), 5000, 3);
    const extra = randomSteps(new Prng(11), 5000, 3).map((step) => ({
      ...step,
      args: Object.fromEntries(
        Object.entries(step.args).map(([key, value]) =>
          ["object", "from", "to", "pool"].includes(key)
            ? [key, `x${String(value)}`]
            : [key, value],
        ),
      ),
    }));
    const more = [...steps.slice(0, 2500), ...extra, ...steps.slice(2500)];
    const result = aligned(named(steps), named(more));
    expect(result.blocks.map(placesOf)).toEqual([
      { kind: "inserted", base: [2500, 2500], candidate: [2500, 7500] },
    ]);
  });
});
