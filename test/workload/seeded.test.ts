// Laws of the seeded workload, with the allocator as the judge of what is legal.
import { describe, expect, test } from "vitest";
import type { Answer, DirectConfig, InvalidRule } from "../../src/base/operations.js";
import { INVALID_RULES } from "../../src/base/operations.js";
import { KV_OPERATIONS } from "../../src/kv/storage.js";
import { inspect, inspectContext } from "../../src/trace/inspect.js";
import { OpenNames } from "../../src/trace/open-names.js";
import { findOperation } from "../../src/trace/operation-table.js";
import { runWords } from "../../src/trace/run-words.js";
import type { Layout } from "../../src/workload/layouts.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import type { SeededWorkload } from "../../src/workload/seeded.js";
import { seededWorkload, WEIGHT_NAMES } from "../../src/workload/seeded.js";
import { allocatorOf, drive, driveAllocator } from "./drive.js";

const OPERATIONS = 400;
const TWO_ENDS: readonly Layout[] = ["full+window", "full+state"];

function make(seed: number, layout: Layout, pageSize: number, weights = "default"): SeededWorkload {
  return seededWorkload({ seed, ops: OPERATIONS, layout, pageSize, weights });
}

/** Seeds of one cell; the whole range belongs to the property tests. */
const SEEDS = Array.from({ length: 8 }, (_, index) => index * 101 + 3);

describe("a legal operation is never invalid, a broken one breaks the rule it says", () => {
  const rules = new Set<InvalidRule>();
  for (const weights of WEIGHT_NAMES) {
    test(`weights ${weights}`, () => {
      for (const layout of TWO_ENDS) {
        for (const pageSize of [1, 16]) {
          for (const seed of SEEDS.slice(0, 2))
            checkContracts(make(seed, layout, pageSize, weights), rules);
        }
      }
    });
  }
  test("every rule is broken somewhere", () => {
    for (const seed of SEEDS) {
      checkContracts(make(seed, "full+window", 16, "hostile"), rules);
      for (const weights of ["transfers", "stages", "steady"])
        checkContracts(make(seed, "full+window+state", 16, weights), rules);
    }
    expect([...rules].sort()).toEqual([...INVALID_RULES].sort());
  });
});

function checkContracts(workload: SeededWorkload, rules: Set<InvalidRule>): void {
  const storage = allocatorOf(workload);
  let broken: InvalidRule | null = null;
  const answerer = (operation: Parameters<typeof storage.apply>[0]): Answer => {
    broken = workload.brokenRule;
    return storage.apply(operation);
  };
  let n = 0;
  for (const { operation, answer } of drive(workload, answerer)) {
    const rule = answer.err?.code === "invalid" ? answer.err.rule : null;
    if (rule !== broken || answer.err?.code === "unsupported") {
      const where = `${workload.run} operation ${String(n)} ${JSON.stringify(operation)}`;
      expect.fail(`${where}: expected rule ${String(broken)}, got ${JSON.stringify(answer)}`);
    }
    if (broken !== null) rules.add(broken);
    n += 1;
  }
}

describe("a run", () => {
  const cells = TWO_ENDS.flatMap((layout) =>
    ["default", "transfers", "stages"].map((weights) => [layout, weights] as const),
  );
  test.each(cells)("%s, %s: as many operations as asked, drained at its end", (layout, weights) => {
    for (const ops of [1, 2, 3, 4, 5, 10, 37, OPERATIONS]) {
      const all = driveAllocator(seededWorkload({ seed: 5, ops, layout, pageSize: 16, weights }));
      expect(all.length).toBe(ops);
      expect(all[0]?.operation.op).toBe("boot");
      if (ops < 4) continue;
      const last = all.slice(-3).map(({ operation }) => operation.op);
      expect(last).toEqual(["chain.flush", "chain.flush", "check.idle"]);
      expect(all.at(-1)?.answer.ok).toEqual({ violations: [], skipped: false });
    }
  });

  test("the same options give the same operations, another seed gives others", () => {
    const text = (seed: number): string =>
      JSON.stringify(driveAllocator(make(seed, "full+window", 16)));
    expect(text(7)).toBe(text(7));
    expect(text(7)).not.toBe(text(8));
  });

  test("its id, source and configuration", () => {
    const workload = make(7, "full+window", 16);
    expect(workload.run).toBe("full+window/p16/seed-7");
    expect(workload.source).toEqual({ type: "seed", seed: 7, ops: OPERATIONS, weights: "default" });
    expect((workload.config as DirectConfig).page_size).toBe(16);
  });

  test.each(["hostile", "transfers", "stages"])(
    "%s: its operations are those of the table, and each name is opened before it is used",
    (weights) => {
      for (const layout of TWO_ENDS) {
        const workload = make(11, layout, 4, weights);
        const words = runWords("kv", workload.config);
        const names = new OpenNames();
        for (const { operation, answer } of driveAllocator(workload)) {
          const spec = findOperation(operation.op);
          expect(spec).toBeDefined();
          if (spec !== undefined)
            expect(inspect(spec.args, operation.args, inspectContext(words))).toBeNull();
          // A name that is opened although it is open is wrong on purpose.
          if (workload.brokenRule === null && answer.err?.code !== "invalid")
            expect(names.check(operation), JSON.stringify(operation)).toBeNull();
          names.note(operation, answer.ok !== undefined);
        }
      }
    },
  );

  test("every operation of the domain is granted somewhere", () => {
    const granted = new Set<string>();
    for (const weights of ["transfers", "stages", "windows"]) {
      for (const seed of SEEDS) {
        for (const { operation, answer } of driveAllocator(
          make(seed, "full+window+state", 16, weights),
        ))
          if (answer.ok !== undefined) granted.add(operation.op);
      }
    }
    const kinds = KV_OPERATIONS.filter((name) => !granted.has(name));
    expect(kinds).toEqual([]);
  });

  test("an implementation that refuses everything gets to the end too", () => {
    const workload = make(3, "full+state", 16);
    const refusal = { err: { code: "refused_rows", need: 1, free: 0 } } as const;
    let opened = 0;
    const answerer = ({ op }: { op: string }): Answer => {
      if (workload.brokenRule === null && op === "tokens.extend") opened += 1;
      return op === "boot" ? { ok: {} } : refusal;
    };
    expect([...drive(workload, answerer)].length).toBe(OPERATIONS);
    // Nothing was ever opened, so nothing legal extends it.
    expect(opened).toBe(0);
  });
});

describe("refusals, rearranging takes and pending pages all happen", () => {
  for (const layout of TWO_ENDS) {
    test.each([1, 16, 64])(`${layout} p%i`, (pageSize) => {
      const counts = { operations: 0, refused: 0, granted: 0, above: 0, pending: 0 };
      for (const seed of SEEDS) countShares(make(seed, layout, pageSize), counts);
      const percent = (part: number, whole: number): number => (100 * part) / whole;
      expect(percent(counts.refused, counts.operations)).toBeGreaterThanOrEqual(5);
      expect(percent(counts.above, counts.granted)).toBeGreaterThanOrEqual(5);
      expect(percent(counts.pending, counts.operations)).toBeGreaterThanOrEqual(5);
    });
  }
});

function countShares(
  workload: SeededWorkload,
  counts: { operations: number; refused: number; granted: number; above: number; pending: number },
): void {
  const storage = allocatorOf(workload);
  const bands = (workload.config as DirectConfig).sub_pools.map((pool) => pool.name);
  for (const { operation, answer } of drive(workload, (each) => storage.apply(each))) {
    counts.operations += 1;
    if (answer.err !== undefined && answer.err.code !== "invalid") counts.refused += 1;
    const step = (answer.ok as { step?: string } | undefined)?.step;
    if (step !== undefined && operation.op !== "ask.plan") {
      counts.granted += 1;
      if (step !== "no_move") counts.above += 1;
    }
    const state = storage.state();
    if (bands.some((band) => (state[band] as { pending: unknown[] }).pending.length > 0))
      counts.pending += 1;
  }
}

test("unknown weights are named with the nearest known ones", () => {
  expect(() => make(1, "full+window", 16, "defualt")).toThrow(/unknown weights "defualt".*default/);
});

describe("drawn geometries", () => {
  test.each(LAYOUTS)("%s: every band has usable pages, windows are longest first", (layout) => {
    for (const pageSize of [1, 3, 16, 64]) {
      for (const seed of SEEDS) {
        const { sub_pools: pools, arena_bytes: arena } = make(seed, layout, pageSize)
          .config as DirectConfig;
        const windows = pools.flatMap(({ window }) => (typeof window === "number" ? [window] : []));
        expect(windows).toEqual([...new Set(windows)].sort((left, right) => right - left));
        expect(pools.at(-1)?.name).toBe("full");
        const pageBytes = pools.map(
          (pool) => pool.unit_bytes * (pool.kind === "state" ? 1 : pageSize),
        );
        expect(arena).toBeGreaterThan(2 * Math.max(...pageBytes));
      }
    }
  });
});
