// Compaction comes to rest (B026): over seeded states, at a cap of one move and at none that matters, flushing until no
// page moves takes at most one move a live page, and the flush after that changes nothing.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOk, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import type { BandState, State } from "../../src/base/state.js";
import { KVStorage } from "../../src/kv/storage.js";
import { type Layout, LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 50;
const OPERATIONS = 300;
const FLUSH: KvOperation = { op: "chain.flush", args: {} };

function flushed(storage: KVStorage): KvOk["chain.flush"] {
  const { ok, err } = storage.apply(FLUSH);
  expect(err).toBeUndefined();
  return ok as KvOk["chain.flush"];
}

/** Flushes a copy of the state to rest; the number of moves. */
function settle(config: DirectConfig, state: State, cap: number): { moves: number; calls: number } {
  const storage = new KVStorage({ ...config, move_cap: cap }, { digestDepth: "deep" });
  storage.load(state);
  const live: Record<string, number> = {};
  for (const { name } of config.sub_pools) live[name] = (state[name] as BandState).live;
  const moved: Record<string, number> = {};
  let calls = 0;
  for (;;) {
    calls += 1;
    const bands = flushed(storage);
    for (const [name, { moves }] of Object.entries(bands)) {
      expect(moves.length).toBeLessThanOrEqual(cap);
      moved[name] = (moved[name] ?? 0) + moves.length;
      expect(moved[name], name).toBeLessThanOrEqual(live[name]!);
    }
    if (Object.values(bands).every(({ moves }) => moves.length === 0)) break;
  }
  const before = storage.endDigest();
  for (const band of Object.values(flushed(storage)))
    expect(band).toEqual({ moves: [], absorbed: 0 });
  expect(storage.endDigest()).toBe(before);
  return { moves: Object.values(moved).reduce((sum, count) => sum + count, 0), calls };
}

function runSeed(layout: Layout, pageSize: number, seed: number): Counts {
  const counts: Counts = { states: 0, moving: 0, several: 0, in_flight: 0 };
  const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize });
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: null });
  const prng = new Prng(seed, 26);
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    answer = storage.apply(step.operation as KvOperation);
    if (!prng.chance(1, 12)) continue;
    const state = storage.state();
    if (state.forwards.open !== null) continue; // no flush between a launch and its record
    const one = settle(config, state, 1);
    const all = settle(config, state, 1_000_000);
    counts["states"]! += 1;
    if (all.moves > 0) counts["moving"]! += 1;
    if (one.calls > 3) counts["several"]! += 1;
    if (state.forwards.unprocessed.length > 0) counts["in_flight"]! += 1;
  }
  return counts;
}

test("every flush comes to rest", () => {
  const total: Counts = {};
  let parts = 0;
  for (const layout of LAYOUTS) {
    for (const pageSize of [1, 16]) {
      for (const seed of seedsOf(SEEDS)) {
        const name = `flush-rest ${layout} p${String(pageSize)} seed ${String(seed)}`;
        const counts = sweepPart(name, () => runSeed(layout, pageSize, seed));
        for (const [kind, count] of Object.entries(counts))
          total[kind] = (total[kind] ?? 0) + count;
        parts += 1;
      }
    }
  }
  sweepTotal(`flushes at rest: ${JSON.stringify(total)}`);
  for (const kind of ["states", "moving", "several", "in_flight"])
    expect(total[kind], kind).toBeGreaterThan(parts);
});
