// Bisection over operations and over configuration keys: thresholds that follow from the rules of the allocator.
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import { CandidateError, UsageError } from "../../../src/base/errors.js";
import type { DirectConfig, Operation } from "../../../src/base/operations.js";
import type { State } from "../../../src/base/state.js";
import { bisectCheck } from "../../../src/tools/bisect/check.js";
import { valuesBetween } from "../../../src/tools/bisect/config-key.js";
import { bisectKey } from "../../../src/tools/bisect/keys.js";
import type { BisectKeyOptions } from "../../../src/tools/bisect/keys.js";
import { bisectStates } from "../../../src/tools/bisect/operations.js";
import { openTrace } from "../../../src/trace/reader.js";
import {
  at,
  FaultyAdapter,
  freshPath,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "../faulty-adapter.js";
import type { Line, Mistake } from "../faulty-adapter.js";

const plain = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

const config: DirectConfig = {
  ...{ page_size: 4, arena_bytes: 6656, rows: 8, row_tokens: 128 },
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 64 }],
};
/** A trace of these operations, as the allocator answers them. */
async function traceOf(operations: readonly Operation[]): Promise<string> {
  const adapter = await plain();
  await adapter.open({ run: "one", domain: "kv", config, digestDepth: null });
  const { answers } = await adapter.apply(operations);
  const producer = { name: "test", version: "1", revision: null, dirty: null };
  const head = { kind: "trace", format: "unified-trace", version: 1, producer };
  const source = { type: "live", name: "one" };
  return writeLines([
    { ...head, created: null, note: null },
    { kind: "run", run: "one", domain: "kv", config, source, digest_depth: null },
    ...operations.map((operation, n) => ({ kind: "op", n, ...operation, ...answers[n] })),
    { kind: "end", run: "one", ops: operations.length },
  ]);
}
const rowsTrace = await traceOf([
  { op: "boot", args: {} },
  { op: "row.alloc", args: { reqs: ["r1", "r2", "r3"] } },
  { op: "row.free", args: { req: "r1" } },
  { op: "row.alloc", args: { reqs: ["r4", "r5"] } }, // four rows at once
  { op: "tokens.extend", args: { batch: [{ req: "r2", from: 0, to: 18 }] } }, // five pages
]);
const AT = 47;
const STATE_OPS = 90;
const statesTrace = await recorded(seeds(0, 2, STATE_OPS));
const CHECK_OPS = 60;
const checkTrace = await recorded(seeds(0, 2, CHECK_OPS));

describe("over keys", () => {
  const search = (key: string, good: number, bad: number, more: Partial<BisectKeyOptions> = {}) =>
    bisectKey({
      ...{ trace: rowsTrace, key, by: "refusals", start: plain },
      values: valuesBetween(key, good, bad, 1),
      ...more,
    });

  test("rows: four are held at once", async () => {
    const result = await search("rows", 8, 1);
    expect(result).toMatchObject({ verdict: "found", last: 4, first: 3, run: "one", n: 3 });
    expect(result.base.outcome).toBe("granted");
    expect(result.changed).toMatchObject({
      outcome: "refused_rows",
      answer: { err: { need: 2, free: 1 } },
    });
    // the other way round: from where it is refused to where it is granted
    expect(await search("rows", 3, 8)).toMatchObject({ last: 3, first: 4, n: 3 });
  });

  test("arena_bytes: five pages and the one of the sink, of 4 tokens of 64 bytes each", async () => {
    const result = await search("arena_bytes", 6656, 512);
    expect(result).toMatchObject({ verdict: "found", last: 6 * 256, first: 6 * 256 - 1, n: 4 });
    const steps = valuesBetween("arena_bytes", 6656, 512, 100);
    const coarse = await search("arena_bytes", 6656, 512, { values: steps });
    // 6656 - 51 * 100 is the last multiple above 1536
    expect(coarse).toMatchObject({ last: 1556, first: 1456 });
  });

  test("a key inside another, and whole answers", async () => {
    expect(await search("sub_pools.full.unit_bytes", 64, 1024)).toMatchObject({
      // pages of 4u bytes: six of them in 6656 bytes as long as u is at most 277
      ...{ last: 277, first: 278, n: 4 },
    });
    // ids count down from the top of the arena, so they change with the first page less
    const answers = await search("arena_bytes", 6656, 512, { by: "answers" });
    expect(answers).toMatchObject({ last: 6656, first: 6655, n: 4, by: "answers" });
  });

  test("what names no number, or changes nothing, is said", async () => {
    await expect(search("row", 8, 1)).rejects.toThrow(/--key row names no number .*mean rows\?/);
    await expect(search("sub_pools.full.kind", 8, 1)).rejects.toThrow(UsageError);
    await expect(search("rows", 8, 5)).rejects.toThrow(/comes to the same at 8 and at 5/);
    await expect(search("page_size", 0, 4)).rejects.toThrow(/the configuration is refused at 0/);
  });

  test("a page size takes powers of two between its ends", () => {
    const line = (good: number, bad: number): number[] => {
      const values = valuesBetween("page_size", good, bad, 1);
      return Array.from({ length: values.count }, (_, index) => values.at(index));
    };
    expect(line(16, 1)).toEqual([16, 8, 4, 2, 1]);
    expect(line(3, 20)).toEqual([3, 4, 8, 16, 20]);
  });
});

describe("over states", () => {
  /** Its state, or only its digest, is another one from operation `AT` on; every answer is right. */
  class Drifting extends FaultyAdapter {
    readonly shows: "state" | "digest" | "nothing";
    #count = 0;
    constructor(shows: "state" | "digest" | "nothing", mistake: Mistake = right) {
      super(mistake, null, shows === "nothing" ? { digest: null } : {});
      this.shows = shows;
    }
    override async open(opening: Parameters<Adapter["open"]>[0]): Promise<void> {
      this.#count = 0;
      await super.open(opening);
    }
    override async apply(operations: readonly Operation[]): ReturnType<Adapter["apply"]> {
      this.#count += operations.length;
      return super.apply(operations);
    }
    override async state(): Promise<State | null> {
      const state = await super.state();
      if (this.shows !== "state" || state === null) return null;
      return this.#count > AT ? { ...state, tree: [...state.tree, "drifted"] } : state;
    }
    override async close(): ReturnType<Adapter["close"]> {
      const { digest, failure } = await super.close();
      const own = this.shows === "nothing" ? null : digest;
      return { digest: this.shows === "digest" && this.#count > AT ? "other" : own, failure };
    }
  }
  const search = (candidate: () => Adapter) =>
    bisectStates({ trace: statesTrace, base: plain, candidate: async () => candidate() });

  test.each(["state", "digest"] as const)(
    "the first operation after which the %s differs",
    async (by) => {
      const result = await search(() => new Drifting(by));
      expect(result).toMatchObject({ verdict: "found", by, n: AT, agreed: AT, answers: null });
      expect(result.run).toBe("full+window/p16/seed-0");
      expect(result.fields.length).toBe(by === "state" ? 1 : 0);
      // the whole, then halves
      expect(result.tested.length).toBeLessThanOrEqual(1 + Math.ceil(Math.log2(STATE_OPS + 1)));
    },
  );

  test("answers that differ later are told, and a candidate that breaks", async () => {
    const later = at(60, () => ({ err: { code: "refused_rows", need: 1, free: 0 } }));
    expect(await search(() => new Drifting("state", later))).toMatchObject({
      n: AT,
      answers: { n: 60 },
    });
    const breaks = at(12, () => ({ kind: "crash", message: "gone" }));
    const result = await search(() => new Drifting("state", breaks));
    expect(result).toMatchObject({ n: 12, agreed: 12, failure: "crash: gone" });
  });

  test("nothing to find, and nothing to see", async () => {
    await expect(search(() => new FaultyAdapter(right))).rejects.toThrow(/nothing to find/);
    await expect(search(() => new Drifting("nothing"))).rejects.toThrow(CandidateError);
  });
});

describe("over checks", () => {
  function search(judge: (length: number) => number | null, run?: string) {
    const prefix = freshPath("prefix.jsonl");
    return bisectCheck({
      trace: checkTrace,
      prefix,
      ...(run === undefined ? {} : { run }),
      check: async () => {
        // what it is given is a trace of one run that begins as the recording does
        const reader = await openTrace(prefix);
        let length = 0;
        for (;;) {
          const { lines: batch } = await reader.readBatch();
          if (batch.length === 0) break;
          length += batch.filter(({ kind }) => kind === "op").length;
        }
        const { run: name, ops, digest } = readLines(prefix).at(-1);
        expect(ops).toBe(length);
        // the whole run ends as it was recorded
        const isEnd = (line: Line): boolean => line.kind === "end" && line.run === name;
        if (length === CHECK_OPS) expect(digest).toBe(readLines(checkTrace).find(isEnd).digest);
        const code = judge(length);
        return { code, problem: code === 0 ? null : "failed" };
      },
    });
  }

  test("the first operation with which it fails", async () => {
    for (const first of [1, 2, 17, CHECK_OPS]) {
      const result = await search((length) => (length < first ? 0 : 1));
      const found = { verdict: "found", by: "check", n: first - 1, agreed: first - 1 };
      expect(result).toMatchObject({ ...found, run: "full+window/p16/seed-0" });
    }
    const other = await search((length) => (length < 9 ? 0 : 3), "full+state/p16/seed-1");
    expect(other).toMatchObject({ run: "full+state/p16/seed-1", n: 8 });
  });

  test("what it cannot tell is left between", async () => {
    const result = await search((length) => (length < 20 ? 0 : length < 25 ? 125 : 1));
    expect(result).toMatchObject({ verdict: "several", agreed: 19, n: 24 });
  });

  test("a check that never fails, or says nothing", async () => {
    await expect(search(() => 0)).rejects.toThrow(/passes on every whole run/);
    await expect(search(() => 128)).rejects.toThrow(UsageError);
    await expect(search(() => null)).rejects.toThrow(/0 \(passes\), 125/);
    await expect(search(() => 1, "nope")).rejects.toThrow(/no such run/);
  });
});
