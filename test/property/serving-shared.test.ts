// Laws of the serving model with a prefix tree, a host cache, checkpoints, and of a pair that exchanges requests: the
// allocator answers, over many seeds and small memories.
import { describe, expect, test } from "vitest";
import type { Answer, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import type { Layout } from "../../src/workload/layouts.js";
import type { ServingSwitches } from "../../src/workload/serving-features.js";
import { servingPair } from "../../src/workload/serving-pair.js";
import type { ServingOptions } from "../../src/workload/serving.js";
import { servingWorkload } from "../../src/workload/serving.js";
import { groupOf } from "../../src/workload/workload.js";
import type { WorkloadGroup } from "../../src/workload/workload.js";
import { smallOptions } from "../workload/serving-small.js";

const MOST = 60_000; // operations of a small run
const SEEDS = process.env["UT_FULL"] === "1" ? [0, 1, 2, 3, 4, 5] : [0, 3];

interface Step {
  readonly run: number;
  readonly operation: KvOperation;
  readonly answer: Answer;
}

/** Every step of a group against an allocator a run, in order; what is left in each at the end. */
function driveGroup(group: WorkloadGroup, options: ServingOptions) {
  const storages = group.runs.map(() => new KVStorage(options.config, { digestDepth: null }));
  const steps: Step[] = [];
  let answer: Answer | null = null;
  for (let next = group.next(answer); next !== null; next = group.next(answer)) {
    if (!("operation" in next.step)) throw new Error("a mark");
    const operation = next.step.operation as KvOperation;
    answer = storages[next.run]!.apply(operation);
    steps.push({ run: next.run, operation, answer });
    if (steps.length > MOST) throw new Error("no end in sight");
  }
  return { steps, storages };
}

function expectHealthy(group: WorkloadGroup, options: ServingOptions): readonly Step[] {
  const { steps, storages } = driveGroup(group, options);
  const broken = steps.find(({ answer }) =>
    ["invalid", "unsupported"].includes(answer.err?.code ?? ""),
  );
  expect(broken).toBeUndefined();
  for (const { operation, answer } of steps) {
    if (operation.op !== "check.idle") continue;
    expect(answer.ok).toMatchObject({ violations: [] });
  }
  for (const [run, storage] of storages.entries()) {
    expect(steps.filter((step) => step.run === run).at(-1)?.answer.ok).toEqual({
      violations: [],
      skipped: false,
    });
    const state = storage.state() as Record<string, unknown>;
    expect(state["ledger"]).toEqual([]);
    expect(state["rows"]).toEqual({});
    expect(state["tree"]).toEqual([]);
    if (options.usesHost === true)
      expect(state["host"]).toMatchObject({ copies: [], loads: [], kept: [] });
    expect(state["net"]).toMatchObject({ transfers: {} });
    expect(state["forwards"]).toMatchObject({ unprocessed: [], open: null });
  }
  const { requests = 0, served = 0, dropped = 0 } = group.counters ?? {};
  expect(served + dropped).toBe(requests);
  return steps;
}

const SWITCHES: readonly (readonly [string, Partial<ServingSwitches>])[] = [
  ["prefixes", { sharesPrefixes: true }],
  ["host", { host: 40 }],
  ["prefixes, host", { sharesPrefixes: true, host: 60 }],
  ["no_buffer", { sharesPrefixes: true, checkpoint: { strategy: "no_buffer" } }],
  ["lazy, host", { sharesPrefixes: true, host: 30, checkpoint: { strategy: "extra_buffer_lazy" } }],
];
const LAYOUTS: readonly Layout[] = ["full+window", "full+state", "full+2window+state"];

describe.each(SWITCHES)("%s", (_, given) => {
  const switches = { sharesPrefixes: false, checkpoint: null, host: null, ...given };

  describe.each(LAYOUTS)("%s", (layout) => {
    test.each([1, 4, 16])("p%i: a run is legal, comes to rest and leaves nothing", (pageSize) => {
      for (const seed of SEEDS) {
        const options = smallOptions(seed, layout, pageSize, switches);
        expectHealthy(groupOf(servingWorkload(options)), options);
      }
    });

    test.each([1, 4, 16])("p%i: so are the two runs of a pair", (pageSize) => {
      for (const seed of SEEDS) {
        const options = smallOptions(seed, layout, pageSize, switches);
        expectHealthy(servingPair(options), options);
      }
    });
  });
});
