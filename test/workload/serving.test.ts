// Laws of the serving model, with the allocator answering: the order of its steps, what it keeps count of, and that
// it comes to an end whatever it is told.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { DirectConfig, KvOperation } from "../../src/base/operations.js";
import { loadConfigs } from "../../src/workload/configs.js";
import type { Layout } from "../../src/workload/layouts.js";
import { plainAccount } from "../../src/workload/request-trace.js";
import type { RequestTrace, TracedRequest } from "../../src/workload/request-traces.js";
import { openRequestTrace } from "../../src/workload/request-traces.js";
import type { ServingOptions } from "../../src/workload/serving.js";
import { servingWorkload } from "../../src/workload/serving.js";
import type { Workload } from "../../src/workload/workload.js";
import { describeUnless } from "../skip-aloud.js";
import type { Driven } from "./drive.js";
import { drive, driveAllocator } from "./drive.js";

const LIBRARY = loadConfigs();

function tight(
  trace: RequestTrace,
  layout: Layout,
  pageSize: number,
  changes: Partial<ServingOptions> = {},
): Workload {
  const derived = LIBRARY.derived("serving/tight", layout, pageSize);
  return servingWorkload({
    trace,
    ...derived,
    configName: "serving/tight",
    layout,
    pageSize,
    ...changes,
  });
}

/** A trace of requests that arrive together. */
function traceOf(...lengths: readonly (readonly [input: number, output: number])[]): RequestTrace {
  const requests = lengths.map(([input, output]): TracedRequest => ({
    arrival: 0,
    input,
    output,
    blocks: [],
  }));
  const account = plainAccount(requests.length);
  return { name: "synthetic", blockTokens: 512, requests, seed: 0, account };
}

// 20 pages of 4 tokens in each band and no sharing of bytes to speak of.
const SMALL: DirectConfig = {
  page_size: 4,
  arena_bytes: 16 * 21,
  sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
  rows: 4,
  row_tokens: 256,
  overlap: true,
};
function small(trace: RequestTrace, serving: Partial<ServingOptions["serving"]> = {}): Workload {
  const figures = {
    batch: 4,
    chunk: 16,
    decode_tokens: 1,
    retire_tokens: 4,
    steps_per_second: 10,
    ...serving,
  };
  return servingWorkload({
    trace,
    config: SMALL,
    configName: "small",
    layout: "full",
    pageSize: 4,
    serving: figures,
  });
}

function words(driven: readonly Driven[]): string[] {
  return driven.map(({ operation }) => operation.op);
}
function countOps(driven: readonly Driven[], op: string): number {
  return driven.filter(({ operation }) => operation.op === op).length;
}

describe("one request", () => {
  test("prefill in chunks, each result before the next chunk, then decode one forward ahead", () => {
    const driven = driveAllocator(small(traceOf([20, 3])));
    const last = (driven.at(-1)?.answer.ok ?? {}) as object;
    expect(last).toEqual({ violations: [], skipped: false });
    const launch = ["forward.launch", "forward.record", "forward.barrier"];
    expect(words(driven)).toEqual([
      "boot",
      ...["row.alloc", "tokens.extend", ...launch], // 16 tokens
      ...["forward.process", "chain.flush", "tokens.extend", ...launch], // 4 tokens, the first output
      ...["tokens.decode", ...launch, "forward.process"], // f2 is processed after f3 is launched
      ...["tokens.decode", ...launch, "forward.process"], // f3 gave the second, f4 will give the third
      ...["tokens.decode", ...launch, "request.finish", "forward.process"], // f5 was launched in vain
      "forward.process",
      ...["chain.flush", "chain.flush", "check.idle"],
    ]);
    const spans = driven.flatMap(({ operation }) =>
      operation.op === "forward.launch"
        ? operation.args.batch.map(({ from, to }) => [from, to])
        : [],
    );
    expect(spans).toEqual([
      [0, 16],
      [16, 20],
      [20, 21],
      [21, 22],
      [22, 23],
    ]);
  });

  test("several tokens a forward: one token that is due, then room for the rest", () => {
    const driven = driveAllocator(small(traceOf([8, 9]), { decode_tokens: 4 }));
    const takes = driven.flatMap(({ operation }) =>
      operation.op === "tokens.extend" || operation.op === "tokens.decode"
        ? [operation.args.batch[0]]
        : [],
    );
    expect(takes.slice(0, 3)).toEqual([
      { req: "r1", from: 0, to: 8 },
      { req: "r1", len: 9 },
      { req: "r1", from: 9, to: 12 },
    ]);
  });
});

describe("memory that is short", () => {
  test("the newest gives way, goes to the queue's front, starts again with what it had, and ends", () => {
    // 20 pages: two prompts of 8 pages fit, their answers do not
    const workload = small(traceOf([32, 30], [32, 30]));
    const driven = driveAllocator(workload);
    const retracted = driven.flatMap(({ operation }) =>
      operation.op === "request.retract" ? [operation.args.req] : [],
    );
    expect(retracted.length).toBeGreaterThan(0);
    expect(new Set(retracted)).toEqual(new Set(["r2"]));
    const ended = driven.flatMap(({ operation }) =>
      operation.op === "request.finish" ? [operation.args.req] : [],
    );
    expect(ended).toEqual(["r1", "r2"]);
    expect(workload.counters).toMatchObject({
      requests: 2,
      served: 2,
      dropped: 0,
      retractions: retracted.length,
    });
    // The second try prefills the prompt and what was generated before.
    const after = driven.findLastIndex(({ operation }) => operation.op === "request.retract");
    const again = driven
      .slice(after)
      .flatMap(({ operation }) => (operation.op === "tokens.extend" ? operation.args.batch : []));
    expect(Math.max(...again.map(({ to }) => to))).toBeGreaterThan(32);
  });

  test("requests that could not be served even alone are dropped under a name", () => {
    const workload = small(traceOf([300, 5], [77, 3], [0, 4], [4, 0], [8, 2]));
    const driven = driveAllocator(workload);
    expect(workload.counters).toMatchObject({
      requests: 5,
      served: 1,
      dropped: 4,
      dropped_longer_than_row: 1,
      dropped_exceeds_arena: 1,
      dropped_empty_request: 2,
    });
    expect(countOps(driven, "row.alloc")).toBe(1);
  });
});

describe.each(["full+window", "full+state"] as const)("serving/tight on %s", (layout) => {
  test.each([16, 64])(
    "p%i: legal, overlapped, accounted for, idle at its end",
    async (pageSize) => {
      const trace = await openRequestTrace("synthetic:3", 60);
      const workload = tight(trace, layout, pageSize);
      const driven = driveAllocator(workload);
      const unwelcome = driven.find(({ answer }) =>
        ["invalid", "unsupported"].includes(answer.err?.code ?? ""),
      );
      expect(unwelcome).toBeUndefined();
      expect(driven.at(-1)?.answer.ok).toEqual({ violations: [], skipped: false });
      const {
        requests = 0,
        served = 0,
        dropped = 0,
        retractions = 0,
        refusals = 0,
      } = workload.counters ?? {};
      expect(requests).toBe(60);
      expect(served + dropped).toBe(requests);
      expect(retractions).toBeGreaterThan(5);
      expect(countOps(driven, "request.finish")).toBe(served);
      expect(driven.filter(({ answer }) => answer.err !== undefined).length).toBe(refusals);
      expect(driven.some(({ answer }) => (answer.fx ?? []).some(([kind]) => kind === "move"))).toBe(
        true,
      );
      expect(countOps(driven, "window.retire") > 0).toBe(layout === "full+window");
      checkOverlap(driven);
    },
  );

  test("the same trace gives the same operations, and a limit serves its first requests", async () => {
    const trace = await openRequestTrace("synthetic:3", 40);
    const text = (workload: Workload): string => JSON.stringify(driveAllocator(workload));
    const first = text(tight(trace, layout, 64, { limit: 20 }));
    expect(text(tight(trace, layout, 64, { limit: 20 }))).toBe(first);
    const shorter = { ...trace, requests: trace.requests.slice(0, 20) };
    expect(text(tight(shorter, layout, 64))).toBe(first);
  });
});

/** At most two forwards are unprocessed, in launch order, and the earlier is processed after the later is recorded. */
function checkOverlap(driven: readonly Driven[]): void {
  const inFlight: string[] = [];
  let overlapped = 0;
  for (const { operation } of driven) {
    if (operation.op === "forward.launch") inFlight.push(operation.args.step);
    if (operation.op !== "forward.process") continue;
    if (inFlight.length === 2) overlapped += 1;
    expect(inFlight.shift()).toBe(operation.args.step);
    expect(inFlight.length).toBeLessThanOrEqual(1);
  }
  expect(inFlight).toEqual([]);
  expect(overlapped).toBeGreaterThan(10);
}

describe("whatever it is told, it ends", () => {
  test.each<[string, (operation: KvOperation) => Driven["answer"]]>([
    ["everything is refused", () => ({ err: { code: "refused_capacity", limit: "bytes" } })],
    [
      "rows but no memory",
      ({ op }) => (op.startsWith("tokens") ? { err: { code: "refused_capacity" } } : { ok: {} }),
    ],
    ["everything is granted, nothing told", () => ({ ok: {} })],
  ])("%s", async (_, answerer) => {
    const trace = await openRequestTrace("synthetic:9", 12);
    const workload = tight(trace, "full+window", 16);
    const driven = [...drive(workload, answerer, 100_000)];
    expect(driven.at(-1)?.operation.op).toBe("check.idle");
    const { requests = 0, served = 0, dropped = 0 } = workload.counters ?? {};
    expect(served + dropped).toBe(requests);
  });
});

test("run id and source name configuration, layout, page size and trace", async () => {
  const workload = tight(await openRequestTrace("synthetic:3", 5), "full+window", 16);
  expect(workload.run).toBe("serving/tight/full+window/p16/synthetic-3");
  expect(workload.source).toMatchObject({
    type: "workload",
    name: "synthetic",
    seed: 3,
    config: "serving/tight",
    requests: 5,
  });
});

const REAL = fileURLToPath(
  new URL("../../../shared/data/mooncake/conversation_trace.jsonl.gz", import.meta.url),
);
describeUnless(
  existsSync(REAL) ? undefined : "no conversation_trace.jsonl.gz beside the project",
  "the conversation trace at serving/tight",
  () => {
    test.each(["full+window", "full+state"] as const)(
      "%s: refusals, retractions, moves",
      async (layout) => {
        const trace = await openRequestTrace(`mooncake:${REAL}`, 150);
        const workload = tight(trace, layout, 64);
        const driven = driveAllocator(workload);
        expect(workload.run).toBe(`serving/tight/${layout}/p64/mooncake`);
        expect(driven.at(-1)?.answer.ok).toEqual({ violations: [], skipped: false });
        const { served = 0, dropped = 0, retractions = 0 } = workload.counters ?? {};
        expect(served + dropped).toBe(150);
        expect(retractions).toBeGreaterThanOrEqual(20);
        const moves = driven.filter(({ answer }) =>
          (answer.fx ?? []).some(([kind]) => kind === "move"),
        );
        expect(moves.length).toBeGreaterThanOrEqual(20);
      },
    );
  },
);
