// Laws 1, 2, 4, 7 and 8 on the allocator, over seeded workloads: page sizes 1, 3, 16, 64, two to four bands.
// The allocator runs on the model device, so every page an operation touches is verified as well.
import { expect, test } from "vitest";
import type { Answer, BootOk, DirectConfig, KvOperation } from "../../src/base/operations.js";
import type { BandState, State } from "../../src/base/state.js";
import { ModelDevice } from "../../src/device/model.js";
import { chainConfig } from "../../src/kv/config.js";
import { KvCore } from "../../src/kv/core.js";
import { idleViolations } from "../../src/kv/operations/idle.js";
import { KVStorage } from "../../src/kv/storage.js";
import { type Layout, LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { type Counts, seedsOf, share, sweepPart, sweepTotal } from "./sweep.js";
import { Truth } from "./truth.js";

const SEEDS = 200;
const OPERATIONS = 400;
function isQuestion(operation: KvOperation): boolean {
  return operation.op.startsWith("ask.") || operation.op === "check.idle";
}

function hasPending(state: State, bands: readonly string[]): boolean {
  return bands.some((band) => (state[band] as BandState).pending.length > 0);
}

/** Runs one seed under all laws; returns the answers as text, for law 8. */
function runSeed(layout: Layout, pageSize: number, seed: number, counts: Counts): string {
  const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize });
  const config = workload.config as DirectConfig;
  const storage = new KVStorage(config, { digestDepth: "deep" });
  const device = new ModelDevice({ verify: "touched" });
  const transcript: string[] = [];
  const where = (op: KvOperation): string =>
    `${workload.run} operation ${String(transcript.length)} ${op.op}`;
  let boot: BootOk | null = null;
  let bootState: State | null = null;
  let answer: Answer | null = null;
  const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    const isAsk = operation.op === "ask.fits" || operation.op === "ask.plan";
    const before = isAsk ? storage.state() : null;
    answer = storage.apply(operation);
    if (boot === null) {
      boot = answer.ok as BootOk;
      bootState = storage.state();
      device.open(config, boot);
    }
    const violation = device.apply(operation, answer);
    expect(violation?.message ?? null, where(operation)).toBeNull();
    const digest = storage.takeDigest();
    count("operations");
    if (answer.err !== undefined || isQuestion(operation)) {
      expect(digest, `law 1: ${where(operation)}`).toBeUndefined();
      expect(answer.fx, `law 1: ${where(operation)}`).toBeUndefined();
    }
    if (answer.err !== undefined && answer.err.code !== "invalid") count("refusals");
    if (answer.err?.code === "invalid") count("invalid");
    const taken = (answer.ok as { step?: string } | undefined)?.step;
    if (taken !== undefined && !isAsk) count("takes");
    if (taken !== undefined && !isAsk && taken !== "no_move") count("above_no_move");
    if (taken === "relayout" && !isAsk) count("relayout");
    if (before !== null && boot !== null) {
      count("questions");
      const demand = (operation.args as { demand: Record<string, number> }).demand;
      const truth = new Truth(config, boot, before);
      const vector = Object.keys(boot.bands).map((name) => demand[name] ?? 0);
      const tried = truth.take(vector);
      const said =
        operation.op === "ask.fits"
          ? (answer.ok as { fits: boolean }).fits
          : (answer.ok as { step: string }).step !== "none";
      expect(tried !== null, `law 2: ${where(operation)}`).toBe(said);
      if (operation.op === "ask.plan" && said)
        expect((answer.ok as { step: string }).step).toBe(tried);
      if (said) count("yes");
      // A no means that no layout exists at all; a yes by compaction means that one does.
      if (!said || tried !== "no_move")
        expect(truth.packs(vector), `law 2: ${where(operation)}`).toBe(said);
    }
    const idle = storage.apply({ op: "check.idle", args: {} });
    expect((idle.ok as { violations: unknown[] }).violations, `law 4: ${where(operation)}`).toEqual(
      [],
    );
    if (transcript.length % 7 === 0) expectSameCopy(storage, where(operation));
    if (hasPending(storage.state(), Object.keys(boot.bands))) count("with_pending");
    transcript.push(JSON.stringify([operation, answer, digest]));
  }
  expect(device.verifyAll()?.message ?? null, workload.run).toBeNull();
  expectDrained(config, storage, bootState!, workload.run);
  expect(transcript.length).toBe(OPERATIONS);
  return transcript.join("\n");
}

/** A copy is the same state and goes on independently. */
function expectSameCopy(storage: KVStorage, where: string): void {
  const copy = storage.clone();
  expect(copy.endDigest(), where).toBe(storage.endDigest());
  expect(JSON.stringify(copy.state()), where).toBe(JSON.stringify(storage.state()));
}

/** Law 7: nothing pending, no ledger record, and after two flushes the boot state but for the order of free ids. */
function expectDrained(config: DirectConfig, storage: KVStorage, boot: State, run: string): void {
  const state = storage.state();
  expect(state.ledger, run).toEqual([]);
  expect(state.rows, run).toEqual({});
  expect(state.forwards.unprocessed, run).toEqual([]);
  expect(state.chain.fences, run).toEqual([]);
  for (const pool of config.sub_pools) {
    const band = state[pool.name] as BandState;
    const first = boot[pool.name] as BandState;
    expect({ ...band, free_ids: [] }, `${run} ${pool.name}`).toEqual({ ...first, free_ids: [] });
    const ids = (extents: BandState["free_ids"]): number[] =>
      extents
        .flatMap(([id, n]) => Array.from({ length: Math.abs(n) }, (_, i) => id + (n < 0 ? -i : i)))
        .sort((a, b) => a - b);
    expect(ids(band.free_ids), run).toEqual(ids(first.free_ids));
  }
}

for (const layout of LAYOUTS) {
  for (const pageSize of [1, 3, 16, 64]) {
    test(`laws on ${layout}, page size ${String(pageSize)}`, () => {
      const total: Counts = {};
      for (const seed of seedsOf(SEEDS)) {
        const counts = sweepPart(
          `kv-laws ${layout} p${String(pageSize)} seed ${String(seed)}`,
          () => {
            const fresh: Counts = {};
            const first = runSeed(layout, pageSize, seed, fresh);
            if (seed % 20 === 0) expect(runSeed(layout, pageSize, seed, {}), "law 8").toBe(first);
            return fresh;
          },
        );
        for (const [name, value] of Object.entries(counts))
          total[name] = (total[name] ?? 0) + value;
      }
      const refused = share(total, "refusals", "operations");
      const moved = share(total, "above_no_move", "takes");
      const pending = share(total, "with_pending", "operations");
      sweepTotal(
        `${layout} p${String(pageSize)}: ${String(total["operations"])} operations, refused ${refused.toFixed(1)} %, ` +
          `takes above no_move ${moved.toFixed(1)} %, with pending pages ${pending.toFixed(1)} %, relayouts ${String(total["relayout"] ?? 0)}`,
      );
      expect(refused).toBeGreaterThanOrEqual(5);
      expect(moved).toBeGreaterThanOrEqual(5);
      expect(pending).toBeGreaterThanOrEqual(5);
      expect(total["yes"]).toBeGreaterThan(0);
      expect(total["yes"]).toBeLessThan(total["questions"]!);
    });
  }
}

test("the books are checked: a page lost from every list is found", () => {
  const config = seededWorkload({ seed: 1, ops: 40, layout: "full+state", pageSize: 1 })
    .config as DirectConfig;
  const core = new KvCore(config, chainConfig(config), { layout: true, deep: false });
  expect(idleViolations(core)).toEqual([]);
  core.chain.owner.live += 1;
  expect(idleViolations(core).map((violation) => violation.check)).toContain("page_conservation");
});
