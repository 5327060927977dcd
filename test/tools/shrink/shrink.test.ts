// The shrinker on literals and on seeded runs, with small predicates in place of a faulty implementation.
import { expect, test } from "vitest";
import type { KvOperation } from "../../../src/base/operations.js";
import { compareCases } from "../../../src/tools/shrink/case.js";
import type { Judge, ShrinkCase } from "../../../src/tools/shrink/case.js";
import { shrink } from "../../../src/tools/shrink/shrink.js";
import type { ShrinkResult } from "../../../src/tools/shrink/shrink.js";
import { BOOT, CONFIG, judgeBy, judged, seededCase } from "./judges.js";
import type { Shows } from "./judges.js";

type Shrunk = ShrinkResult & { readonly kind: "shrunk" };

async function shrunk(
  value: ShrinkCase,
  judge: Judge,
  options: Partial<Parameters<typeof shrink>[0]> = {},
): Promise<Shrunk> {
  const result = await shrink({ case: value, judge, ...options });
  if (result.kind !== "shrunk") throw new Error(`${result.kind}: ${JSON.stringify(result)}`);
  return result;
}

function operations(...ops: readonly KvOperation[]): ShrinkCase {
  return { config: CONFIG, ops: [BOOT, ...ops] };
}
const alloc = (...reqs: string[]): KvOperation => ({ op: "row.alloc", args: { reqs } });
const free = (req: string): KvOperation => ({ op: "row.free", args: { req } });
const extend = (req: string, from: number, to: number): KvOperation => ({
  op: "tokens.extend",
  args: { batch: [{ req, from, to }] },
});
const freeTokens = (req: string, from: number, to: number): KvOperation => ({
  op: "tokens.free",
  args: { req, from, to, bands: "all" },
});

// The bug of B062: the second free of one object.
const secondFree: Shows = (operation, answer) =>
  (operation.op === "row.free" || operation.op === "tokens.free") && answer.err?.code === "invalid";

test("B062: of six operations the opening, the free and the second free are left", async () => {
  const first = operations(
    alloc("ra", "rd"),
    alloc("rb"),
    free("ra"),
    alloc("rc"),
    free("rb"),
    free("rb"),
  );
  const { best } = await shrunk(first, judgeBy(secondFree));
  expect(best.case.ops).toEqual([BOOT, alloc("r1"), free("r1"), free("r1")]);
});

test("B062 on pages: without the operation that took them, the frees prove nothing", async () => {
  const first = operations(
    alloc("ra", "rb", "rc"),
    extend("ra", 0, 2),
    extend("rb", 0, 1),
    freeTokens("ra", 0, 2),
    extend("rc", 0, 1),
    freeTokens("rb", 0, 1),
    freeTokens("rb", 0, 1),
  );
  const { best } = await shrunk(first, judgeBy(secondFree));
  expect(best.case.ops.map(({ op }) => op)).toEqual([
    "boot",
    "row.alloc",
    "tokens.extend",
    "tokens.free",
    "tokens.free",
  ]);
  // The same frees on a row that never grew look like the failure and are another one.
  const bare = operations(alloc("r1"), freeTokens("r1", 0, 1), freeTokens("r1", 0, 1));
  expect(judged(bare, secondFree)).toMatchObject({ kind: "fails", illegal: [2] });
});

test("an opening that was refused, since its name is open, goes alone", async () => {
  const again = [freeTokens("r1", 0, 1), freeTokens("r1", 0, 1)];
  const first = operations(alloc("r1"), extend("r1", 0, 1), alloc("r1"), ...again);
  const { best } = await shrunk(first, judgeBy(secondFree));
  expect(best.case.ops).toEqual([BOOT, alloc("r1"), extend("r1", 0, 1), ...again]);
});

test("what follows a request's shorter row moves with it", async () => {
  const first = operations(
    alloc("r1"),
    extend("r1", 0, 5),
    extend("r1", 5, 9),
    { op: "tokens.decode", args: { batch: [{ req: "r1", len: 10 }] } },
    extend("r1", 10, 16),
  );
  const judge = judgeBy(
    (operation, { err }) =>
      operation.op === "tokens.extend" &&
      err === undefined &&
      operation.args.batch.some(({ from, to }) => from >= 2 && to - from >= 5),
  );
  const { best } = await shrunk(first, judge);
  const batch = [
    { req: "r1", from: 0, to: 2 },
    { req: "r1", from: 2, to: 7 },
  ];
  const joined: KvOperation = { op: "tokens.extend", args: { batch } };
  expect(best.case.ops).toEqual([BOOT, alloc("r1"), joined]);
});

test("entries of a batch go one by one, and the rows with them", async () => {
  const first = operations(alloc("r1", "r2", "r3"), {
    op: "tokens.extend",
    args: { batch: ["r1", "r2", "r3"].map((req) => ({ req, from: 0, to: 9 })) },
  });
  const judge = judgeBy(
    (operation) =>
      operation.op === "tokens.extend" && operation.args.batch.some(({ to }) => to >= 4),
  );
  const { best } = await shrunk(first, judge);
  expect(best.case.ops).toEqual([BOOT, alloc("r1"), extend("r1", 0, 4)]);
});

test("the end of a group goes with its beginning", async () => {
  const group = [
    { op: "group.begin", args: {} },
    { op: "group.end", args: {} },
  ] as const;
  const first = operations(...group, ...group, alloc("r1"), ...group, alloc("r2"));
  const judge = judgeBy((operation, answer) => {
    if (operation.op === "group.end" && answer.err !== undefined) return "refused";
    return operation.op === "row.alloc" && operation.args.reqs.includes("r2");
  });
  const { best, others } = await shrunk(first, judge);
  // nothing but the names tells the two requests apart here, so the failing one keeps its own
  expect(best.case.ops).toEqual([BOOT, alloc("r2")]);
  expect(others).toEqual([]); // no end without a beginning was ever tried with success
});

test("the configuration gets smaller: bands, pages, bytes, rows", async () => {
  const first: ShrinkCase = {
    config: { ...CONFIG, page_size: 16, arena_bytes: 65536, overlap: true, move_cap: 3 },
    ops: [BOOT, alloc("r1"), extend("r1", 0, 40)],
  };
  const judge = judgeBy((operation, answer) => {
    const pages = (answer.ok as { pages?: { r1?: { full?: unknown[] } } } | undefined)?.pages;
    return operation.op === "tokens.extend" && pages?.r1?.full !== undefined;
  });
  const { best } = await shrunk(first, judge);
  const { config } = best.case;
  expect(config.sub_pools).toEqual([{ name: "full", kind: "mha", unit_bytes: 1 }]);
  expect(config).toMatchObject({ page_size: 1, rows: 1, row_tokens: 1 });
  expect(config).not.toHaveProperty("overlap");
  // one page behind the sink, which takes the first
  expect(config.arena_bytes).toBe(2);
});

test("a failure that does not repeat is not shrunk", async () => {
  let calls = 0;
  const flaky: Judge = async (value) => {
    calls += 1;
    return calls % 2 === 1 ? judged(value, () => true) : { kind: "passes" };
  };
  expect(await shrink({ case: operations(alloc("r1")), judge: flaky })).toMatchObject({
    kind: "not repeated",
  });
  const other = { check: "another", op: "boot", component: null } as const;
  const judge = judgeBy(() => true);
  expect(await shrink({ case: operations(), judge, signature: other })).toMatchObject({
    kind: "not repeated",
    wanted: other,
  });
});

test("other failures on the way are kept with a minimal case of their own", async () => {
  // Two mistakes: the second shows only where the first is out of the way.
  const judge = judgeBy((operation, _answer, n, before) => {
    if (operation.op === "chain.flush" && n > 2) return "flushed";
    return operation.op === "row.alloc" && before.length === 2 ? "opened" : false;
  });
  const first = operations(alloc("r1"), alloc("r2"), { op: "chain.flush", args: {} });
  const { best, others } = await shrunk(first, judge);
  expect(best.finding.signature.check).toBe("opened");
  expect(best.case.ops).toHaveLength(3);
  expect(others.every(({ finding }) => finding.signature.check === "flushed")).toBe(true);
});

// Predicates that need several operations, for laws over seeds.
const PREDICATES: readonly (readonly [name: string, shows: Shows])[] = [
  ["a take that moves pages", (_o, { fx }) => fx?.some(([kind]) => kind === "move") ?? false],
  ["a wait for a forward", (_o, { fx }) => fx?.some(([kind]) => kind === "wait") ?? false],
  ["a refusal for bytes", (_o, { err }) => err?.code === "refused_capacity"],
  [
    "a process that releases pages",
    (operation, { ok }) =>
      operation.op === "forward.process" &&
      Object.keys((ok as { released?: object } | undefined)?.released ?? {}).length > 0,
  ],
];

for (const [index, [name, shows]] of PREDICATES.entries()) {
  const weights = index % 2 === 0 ? "default" : "swarm";
  test(`laws over seeds (${weights}): ${name}`, async () => {
    let found = 0;
    for (let seed = 0; seed < 2; seed++) {
      const first = seededCase({
        ...{ seed, ops: 100, pageSize: seed % 2 === 0 ? 4 : 1, weights },
        layout: seed % 2 === 0 ? "full+window" : "full+window+state",
      });
      const start = judged(first, shows);
      if (start.kind !== "fails") continue;
      found += 1;
      const result = await shrunk(first, judgeBy(shows));
      const { best } = result;
      // the signature is kept, and nothing grew
      expect(best.finding.signature).toEqual(start.finding.signature);
      expect(compareCases(best.case, first)).toBeLessThanOrEqual(0);
      expect(judged(best.case, shows)).toMatchObject({ kind: "fails", finding: best.finding });
      // no single operation can go
      for (let n = 1; n < best.case.ops.length; n++) {
        const less = { ...best.case, ops: best.case.ops.toSpliced(n, 1) };
        const now = judged(less, shows);
        const isSame =
          now.kind === "fails" &&
          now.finding.signature.op === best.finding.signature.op &&
          (now.illegal ?? []).length === 0;
        expect(isSame, `operation ${n} of ${JSON.stringify(best.case.ops)}`).toBe(false);
      }
      // again changes nothing, and more at once changes nothing
      const again = await shrunk(best.case, judgeBy(shows));
      expect(again.best.case).toEqual(best.case);
      const parallel = await shrunk(first, judgeBy(shows), { jobs: 4 });
      expect(parallel).toEqual(result);
    }
    expect(found).toBeGreaterThan(0);
  });
}

test("an interrupted shrink keeps the best so far, and a later one goes on from it", async () => {
  const shows = PREDICATES[0]![1];
  const first = seededCase({ seed: 0, ops: 120, pageSize: 4, layout: "full+window" });
  const whole = await shrunk(first, judgeBy(shows));
  const abort = new AbortController();
  const kept: ShrinkCase[] = [];
  const stopped = await shrunk(first, judgeBy(shows), {
    signal: abort.signal,
    onBetter: async ({ case: best }) => {
      kept.push(best);
      if (kept.length === 4) abort.abort();
    },
  });
  expect(stopped.stopped).toBe("interrupted");
  expect(stopped.best.case).toEqual(kept.at(-1));
  expect(kept).toHaveLength(4);
  const seen = { calls: 0 };
  const resumed = await shrunk(first, judgeBy(shows, seen), { resume: stopped.best.case });
  expect(resumed).toMatchObject({ isResumed: true, stopped: null });
  expect(resumed.best.case).toEqual(whole.best.case);
  expect(compareCases(resumed.best.case, stopped.best.case)).toBeLessThan(0);
});

test("a time budget ends the search with the best so far", async () => {
  const shows = PREDICATES[0]![1];
  const first = seededCase({ seed: 0, ops: 120, pageSize: 4, layout: "full+window" });
  let asked = 0;
  const isTimeOver = (): boolean => (asked += 1) > 30;
  const result = await shrunk(first, judgeBy(shows), { isTimeOver });
  expect(result.stopped).toBe("time budget");
  expect(judged(result.best.case, shows).kind).toBe("fails");
});
