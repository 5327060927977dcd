// The allocator's checks while it runs, tripped at each level of `invariants`: broken contracts are found at every level,
// agreement of stages from level 1, estimates inside a decision are a remark at 1 and refused at 2. A refused
// operation changes nothing. The two internal checks show as order: host reads stand before waits, and nothing is
// pending once bands were laid out anew.
import { describe, expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import type { BandState } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import type { Level } from "./trips.js";
import { granted, LEVELS, refused } from "./trips.js";

const STAGE = {
  arena_bytes: 16 * 64 * 12,
  sub_pools: [
    { name: "mamba", kind: "state", unit_bytes: 96 },
    { name: "window_32", kind: "mha", window: 32, unit_bytes: 4 },
    { name: "full", kind: "mha", unit_bytes: 8 },
  ],
} as const satisfies Partial<DirectConfig>;

function running(pageSize: number, invariants: Level): KVStorage {
  const config: DirectConfig = {
    ...STAGE,
    page_size: pageSize,
    rows: 4,
    row_tokens: 128,
    overlap: true,
    invariants,
  };
  const storage = new KVStorage(config, { digestDepth: "deep" });
  const batch = [
    { req: "r1", from: 0, to: 48 },
    { req: "r2", from: 0, to: 16 },
  ];
  for (const operation of [
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs: ["r1", "r2"] } },
    { op: "state.alloc", args: { req: "r1", count: 1, purpose: "main" } },
    { op: "tokens.extend", args: { batch } },
  ] satisfies KvOperation[])
    granted(storage, operation);
  return storage;
}

function free(bands: "all" | "full" | string[], from: number, to: number): KvOperation {
  return { op: "tokens.free", args: { req: "r1", from, to, bands } };
}

/** A free that is granted, and the one after it that must not be. */
interface Trip {
  readonly rule: string;
  readonly first: KvOperation | null;
  readonly then: KvOperation;
  readonly names: object; // what the refusal names, for pages of 16 tokens
}
const STATE_FREE: KvOperation = { op: "state.free", args: { req: "r1", purpose: "main" } };
const TRIPS: readonly [string, Trip][] = [
  [
    "a second free of the same pages",
    {
      rule: "free_of_unbound_page",
      first: free("all", 16, 32),
      then: free("all", 0, 48),
      names: { req: "r1", band: "full", page: 1 },
    },
  ],
  [
    "a free of pages never allocated",
    {
      rule: "free_of_unbound_page",
      first: null,
      then: free("all", 32, 64),
      names: { req: "r1", band: "full", page: 3 },
    },
  ],
  [
    "a second free of a slot",
    {
      rule: "free_of_unbound_page",
      first: STATE_FREE,
      then: STATE_FREE,
      names: { req: "r1", band: "mamba" },
    },
  ],
  [
    "a window free of rows that left the window",
    {
      rule: "window_segment_bound",
      first: free(["window_32"], 0, 16),
      then: free(["window_32"], 0, 32),
      names: { req: "r1", band: "window_32", page: 0 },
    },
  ],
  [
    "a full free of rows that a window still holds",
    {
      rule: "window_segment_released",
      first: free(["window_32"], 0, 16),
      then: free("full", 0, 32),
      names: { req: "r1", band: "window_32", page: 1 },
    },
  ],
];

describe.each(LEVELS)("invariants %i", (level) => {
  describe.each([1, 16])("page size %i", (pageSize) => {
    for (const grouped of [false, true]) {
      test.each(TRIPS)(
        `%s, ${grouped ? "in a group" : "plain"}`,
        (_, { rule, first, then, names }) => {
          const storage = running(pageSize, level);
          if (grouped) granted(storage, { op: "group.begin", args: {} });
          if (first !== null) granted(storage, first);
          const err = refused(storage, then);
          expect(err).toMatchObject({ code: "invalid", rule });
          if (pageSize === 16) expect(err).toEqual({ code: "invalid", rule, ...names });
          if (grouped) granted(storage, { op: "group.end", args: {} });
          // Nobody was harmed: what is left is freed once, and all of it.
          granted(storage, { op: "check.idle", args: {} });
          for (const req of ["r1", "r2"])
            granted(storage, { op: "request.finish", args: { req, len: 16, insert: false } });
          const idle = granted(storage, { op: "check.idle", args: {} });
          expect(idle.ok).toEqual({ violations: [], skipped: false });
        },
      );
    }
  });

  test("stages that decided differently", () => {
    const storage = running(16, level);
    granted(storage, { op: "stages.install", args: { stages: [STAGE, STAGE], self: 0 } });
    granted(storage, { op: "ask.fits", args: { demand: { full: 1 } } });
    const differs: KvOperation = {
      op: "stages.digest",
      args: { iteration: 1, peer: "0123456789abcdef" },
    };
    if (level === 0) granted(storage, differs);
    else expect(refused(storage, differs)?.rule).toBe("stage_capacity_agreement");
  });

  test("an estimate inside a decision", () => {
    const storage = running(16, level);
    const inside: KvOperation = { op: "ask.estimates", args: { inside: "admission" } };
    if (level === 2) expect(refused(storage, inside)?.rule).toBe("observe_only_read");
    else expect(granted(storage, inside).message !== undefined).toBe(level === 1);
  });
});

describe("the internal checks, over seeds", () => {
  test("the host reads once, before any wait; nothing is pending once bands were laid out anew", () => {
    const counts = { reads: 0, waits: 0, settled: 0 };
    for (let seed = 0; seed < 40; seed++) {
      const layout = LAYOUTS[seed % LAYOUTS.length]!;
      const workload = seededWorkload({
        seed,
        ops: 300,
        layout,
        pageSize: seed % 2 === 0 ? 1 : 16,
      });
      const config = { ...(workload.config as DirectConfig), invariants: 2 as const };
      const storage = new KVStorage(config, { digestDepth: null });
      const pendingIn = (): number =>
        config.sub_pools.reduce(
          (sum, { name }) => sum + (storage.state()[name] as BandState).pending.length,
          0,
        );
      let before = 0;
      let answer: Answer | null = null;
      for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
        if (!("operation" in step)) continue;
        answer = storage.apply(step.operation as KvOperation);
        const kinds = (answer.fx ?? []).map(([kind]) => kind);
        const reads = kinds.filter((kind) => kind === "hostread").length;
        if (reads > 0) {
          expect(kinds.indexOf("hostread"), workload.run).toBe(0);
          expect(reads, workload.run).toBe(1);
          expect(pendingIn(), workload.run).toBe(0);
          counts.reads += 1;
          if (kinds.includes("wait")) counts.waits += 1;
          if (before > 0) counts.settled += 1;
        }
        before = pendingIn();
      }
    }
    for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(20);
  });
});
