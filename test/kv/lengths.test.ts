// `check_lengths`: after a processed forward, protected, cursors, allocated and the row's length are in order. No workload
// breaks it; each is broken by hand here. What it finds is told at level 1 and fatal at level 2.
import { describe, expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { chainConfig } from "../../src/kv/config.js";
import { KvCore } from "../../src/kv/core.js";
import { checkLengths } from "../../src/kv/operations/lengths.js";
import { loadState } from "../../src/kv/state-io.js";
import { KVStorage } from "../../src/kv/storage.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import type { Level } from "./trips.js";
import { granted } from "./trips.js";

const CONFIG: DirectConfig = {
  page_size: 4,
  arena_bytes: 2048,
  sub_pools: [
    { name: "window_8", kind: "mha", window: 8, unit_bytes: 8 },
    { name: "full", kind: "mha", unit_bytes: 8 },
  ],
  rows: 4,
  row_tokens: 64,
  overlap: true,
  prefix_sharing: true,
};

function running(config: DirectConfig): KVStorage {
  const storage = new KVStorage(config, { digestDepth: null });
  const batch = [{ req: "r1", from: 0, to: 30 }];
  for (const operation of [
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs: ["r1"] } },
    { op: "tokens.extend", args: { batch } },
    { op: "tree.insert", args: { req: "r1", key: [["p", 30]], len: 16 } },
    { op: "forward.launch", args: { step: "f1", batch, mode: "extend" } },
    { op: "forward.record", args: { step: "f1", writes: "known" } },
  ] satisfies KvOperation[])
    granted(storage, operation);
  return storage;
}

describe("lengths out of order", () => {
  const PLANTS: readonly [string, (core: KvCore) => void, string | null][] = [
    ["none", () => undefined, null],
    ["a cursor in the last page", (core) => setCursor(core, 32), null],
    ["a cursor beyond it", (core) => setCursor(core, 36), "window_8 retired to 36"],
    ["a cursor in the tree's part", (core) => setCursor(core, 12), "window_8 retired to 12"],
    [
      "protected beyond allocated",
      (core) => core.requests.setProtected(core.requests.find("r1")!, 36),
      "36 tokens protected, 30 allocated",
    ],
    [
      "allocated beyond the row",
      (core) => core.requests.setAllocated(core.requests.find("r1")!, 65),
      "65 tokens allocated, the row has 64",
    ],
  ];
  const setCursor = (core: KvCore, tokens: number): void =>
    core.requests.setCursor(core.requests.find("r1")!, 0, tokens);

  test.each(PLANTS)("%s", (_, plant, words) => {
    const told = [0, 1, 2].map((level) => {
      const config = chainConfig({ ...CONFIG, invariants: level as Level });
      const core = new KvCore(CONFIG, config, { layout: false, deep: false });
      loadState(core, running(CONFIG).state());
      plant(core);
      if (level === 2 && words !== null) {
        expect(() => checkLengths(core)).toThrow(`request.lengths: r1: ${words}`);
        return null;
      }
      checkLengths(core);
      return core.chain.invariants.takeTold();
    });
    const expected = words === null ? null : `broken invariant: request.lengths: r1: ${words}`;
    expect([told[0], told[2]]).toEqual([null, null]);
    expect(told[1]?.slice(0, expected?.length) ?? null).toEqual(expected);
  });
});

test("they are looked at after each processed forward, where the run asks for it", () => {
  for (const isAsked of [false, true]) {
    const storage = running({ ...CONFIG, check_lengths: isAsked });
    const state = storage.state();
    const spoiled = { ...state, rows: { r1: { ...state.rows["r1"]!, protected: 36 } } };
    const loaded = new KVStorage({ ...CONFIG, check_lengths: isAsked }, { digestDepth: null });
    loaded.load(spoiled);
    const process: KvOperation = { op: "forward.process", args: { step: "f1" } };
    const { message } = granted(loaded, process);
    if (isAsked) expect(message).toContain("request.lengths: r1: 36 tokens protected");
    else expect(message).toBeUndefined();
  }
});

test("a window retired ahead of its row is told, and the cursor stays", () => {
  const storage = new KVStorage({ ...CONFIG, check_lengths: true }, { digestDepth: null });
  for (const operation of [
    { op: "boot", args: {} },
    { op: "row.alloc", args: { reqs: ["r1"] } },
    { op: "tokens.extend", args: { batch: [{ req: "r1", from: 0, to: 14 }] } },
    { op: "window.retire", args: { req: "r1", len: 34 } },
    { op: "forward.launch", args: { step: "f1", batch: [], mode: "extend" } },
    { op: "forward.record", args: { step: "f1", writes: "known" } },
  ] satisfies KvOperation[])
    granted(storage, operation);
  const { message } = granted(storage, { op: "forward.process", args: { step: "f1" } });
  expect(message).toContain("r1: window_8 retired to 24, 14 tokens allocated"); // 34 - 8, by page
});

test("seeded workloads keep them in order", () => {
  let processed = 0;
  for (const layout of LAYOUTS)
    for (const pageSize of [1, 3, 16])
      for (let seed = 0; seed < 2; seed++) {
        const workload = seededWorkload({ seed, ops: 200, layout, pageSize });
        const own = workload.config as DirectConfig;
        const config = { ...own, check_lengths: true, invariants: 2 as const };
        const storage = new KVStorage(config, { digestDepth: null });
        let answer: Answer | null = null;
        for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
          if (!("operation" in step)) continue;
          answer = storage.apply(step.operation as KvOperation);
          if (step.operation.op === "forward.process" && answer.ok !== undefined) processed += 1;
        }
      }
  expect(processed).toBeGreaterThan(200);
});
