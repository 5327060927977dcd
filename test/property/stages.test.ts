// Pipeline stages: chains of different geometry that hold the same units decide alike, question by question, and a
// stage that does not is caught at its iteration.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation, StageConfig } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { KVStorage } from "../../src/kv/storage.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 100;
const OPERATIONS = 300;

/** The same sub-pools on another arena with other unit bytes. */
function otherStage(config: DirectConfig, prng: Prng): DirectConfig {
  const subPools = config.sub_pools.map((pool) => ({
    ...pool,
    unit_bytes: pool.unit_bytes * prng.between(1, 3),
  }));
  const arena =
    config.arena_bytes * prng.between(1, 3) + prng.below(1 + Math.floor(config.arena_bytes / 4));
  return { ...config, sub_pools: subPools, arena_bytes: arena };
}

/** What must be the same on every stage: everything but places and the steps that realise them. */
function decision(operation: KvOperation, answer: Answer): unknown {
  if (answer.err !== undefined) return answer.err;
  if (operation.op === "ask.plan") return (answer.ok as { step: string }).step === "none";
  if (operation.op.startsWith("ask.") && operation.op !== "ask.translate") return answer.ok;
  return "ok";
}

test("stages of different geometry make identical decisions", () => {
  const total: Counts = { decisions: 0, refusals: 0, digests: 0 };
  for (const seed of seedsOf(SEEDS)) {
    const counts = sweepPart(`stages seed ${String(seed)}`, () => runStages(seed));
    for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
  }
  sweepTotal(`stages: ${JSON.stringify(total)}`);
  expect(total["refusals"]).toBeGreaterThan(0);
  expect(total["digests"]).toBeGreaterThan(0);
});

function runStages(seed: number): Counts {
  const counts: Counts = { decisions: 0, refusals: 0, digests: 0 };
  const prng = new Prng(seed, 3);
  const layout = LAYOUTS[seed % LAYOUTS.length]!;
  const workload = seededWorkload({
    seed,
    ops: OPERATIONS,
    layout,
    pageSize: prng.pick([1, 4, 16]),
  });
  const first = workload.config as DirectConfig;
  const configs = [
    first,
    ...Array.from({ length: prng.between(1, 2) }, () => otherStage(first, prng)),
  ];
  const stages: StageConfig[] = configs.map(({ arena_bytes, sub_pools }) => ({
    arena_bytes,
    sub_pools,
  }));
  const storages = configs.map((config) => new KVStorage(config, { digestDepth: "layout" }));
  let answer: Answer | null = null;
  let done = 0;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    const answers = storages.map((storage) => storage.apply(operation));
    answer = answers[0]!;
    if (operation.op === "boot") {
      for (const [self, storage] of storages.entries()) {
        expect(storage.apply({ op: "stages.install", args: { stages, self } }).ok).toEqual({});
      }
      continue;
    }
    const decisions = answers.map((given) => decision(operation, given));
    const where = `${workload.run} operation ${String(done)} ${operation.op}`;
    for (const other of decisions) expect(other, where).toEqual(decisions[0]);
    for (const storage of storages) {
      expect(storage.apply({ op: "check.idle", args: {} }).ok, where).toEqual({
        violations: [],
        skipped: false,
      });
    }
    counts["decisions"]! += 1;
    if (answer.err !== undefined && answer.err.code !== "invalid") counts["refusals"]! += 1;
    done += 1;
    if (done % 10 === 0) {
      let peer: string | undefined;
      for (const storage of storages) {
        const args = { iteration: done / 10, ...(peer === undefined ? {} : { peer }) };
        const told = storage.apply({ op: "stages.digest", args });
        expect(told.err, where).toBeUndefined();
        peer = (told.ok as { digest: string }).digest;
      }
      counts["digests"]! += 1;
    }
  }
  return counts;
}

test("a stage that asked or holds something else is caught at its iteration", () => {
  const config = seededWorkload({ seed: 4, ops: 50, layout: "full+state", pageSize: 4 })
    .config as DirectConfig;
  const stages: StageConfig[] = [0, 1].map(() => ({
    arena_bytes: config.arena_bytes,
    sub_pools: config.sub_pools,
  }));
  const [base, other] = [0, 1].map((self) => {
    const storage = new KVStorage(config, { digestDepth: "layout" });
    storage.apply({ op: "boot", args: {} });
    storage.apply({ op: "stages.install", args: { stages, self } });
    return storage;
  }) as [KVStorage, KVStorage];
  const agree = (iteration: number): Answer => {
    const { digest } = base.apply({ op: "stages.digest", args: { iteration } }).ok as {
      digest: string;
    };
    return other.apply({ op: "stages.digest", args: { iteration, peer: digest } });
  };
  for (const storage of [base, other])
    storage.apply({ op: "ask.fits", args: { demand: { full: 1 } } });
  expect(agree(1).err).toBeUndefined();
  base.apply({ op: "ask.fits", args: { demand: { full: 1 } } });
  other.apply({ op: "ask.fits", args: { demand: { full: 2 } } });
  expect(agree(2).err).toEqual({ code: "invalid", rule: "stage_capacity_agreement" });
});

test("stages that plan other sub-pools are refused by rule", () => {
  const config = seededWorkload({ seed: 4, ops: 50, layout: "full+state", pageSize: 4 })
    .config as DirectConfig;
  const own: StageConfig = { arena_bytes: config.arena_bytes, sub_pools: config.sub_pools };
  const refusal = (other: StageConfig): unknown => {
    const storage = new KVStorage(config, { digestDepth: "layout" });
    storage.apply({ op: "boot", args: {} });
    return storage.apply({ op: "stages.install", args: { stages: [own, other], self: 0 } }).err;
  };
  const full = config.sub_pools.filter((pool) => pool.name === "full");
  const state = config.sub_pools.filter((pool) => pool.name === "mamba");
  expect(refusal({ ...own, sub_pools: full })).toEqual({
    code: "refused_plan",
    rule: "stage_sub_pools",
  });
  expect(refusal({ ...own, sub_pools: state })).toEqual({
    code: "refused_plan",
    rule: "no_full_owner",
  });
  expect(refusal({ ...own, page_size: 8 })).toEqual({
    code: "refused_plan",
    rule: "stage_sub_pools",
  });
  expect(refusal(own)).toBeUndefined();
});

// B047: unequal memory per stage. Stage A has room for 10 pages, stage B for 8.
test("the stage with less memory decides for all", () => {
  const pool = (pages: number): DirectConfig => ({
    page_size: 1,
    arena_bytes: 4 * (pages + 1),
    sub_pools: [{ name: "full", kind: "mha", unit_bytes: 4 }],
    rows: 2,
    row_tokens: 16,
  });
  const configs = [pool(10), pool(8)];
  const stages = configs.map(({ arena_bytes, sub_pools }) => ({ arena_bytes, sub_pools }));
  for (const [self, config] of configs.entries()) {
    const storage = new KVStorage(config, { digestDepth: "layout" });
    storage.apply({ op: "boot", args: {} });
    expect(storage.apply({ op: "stages.install", args: { stages, self } }).ok).toEqual({});
    const fits = (full: number): unknown =>
      storage.apply({ op: "ask.fits", args: { demand: { full } } }).ok;
    expect(fits(9)).toEqual({ fits: false });
    expect(fits(8)).toEqual({ fits: true });
  }
});
