// Decisions follow logical progress only: ranks that see completions at other times give the same lines.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { type RankAllocator, RankGroup } from "../../src/device/ranks-group.js";
import { KVStorage } from "../../src/kv/storage.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 50;
const OPERATIONS = 300;
const RANKS = 2;
const WEIGHTS = ["default", "transfers", "speculative", "tight"];

function rankOf(config: DirectConfig): RankAllocator {
  const storage = new KVStorage(config, { digestDepth: "deep" });
  return {
    apply(operation): Answer {
      const answer = storage.apply(operation);
      const digest = storage.takeDigest();
      return digest === undefined ? answer : { ...answer, digest };
    },
  };
}

/** A run's operations with the line of each, hints of events left out. */
interface Recorded {
  readonly config: DirectConfig;
  readonly lines: readonly (readonly [operation: KvOperation, line: string])[];
}

/** Runs a seed on two ranks with completions of their own. */
function runRanks(
  weights: string,
  layout: (typeof LAYOUTS)[number],
  seed: number,
  counts: Counts,
): Recorded {
  const workload = seededWorkload({ seed, ops: OPERATIONS, layout, pageSize: 4, weights });
  const config = workload.config as DirectConfig;
  const ranks = Array.from({ length: RANKS }, () => rankOf(config));
  const group = new RankGroup({ seed, ranks });
  const lines: [KvOperation, string][] = [];
  let answer: Answer | null = null;
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation;
    const applied = group.apply(operation);
    answer = applied.answer;
    expect(applied.violation, `${workload.run} operation ${String(lines.length)}`).toBeNull();
    if (operation.op !== "event.fire") lines.push([operation, JSON.stringify(answer)]);
  }
  for (const [name, value] of Object.entries(group.counts))
    counts[name] = (counts[name] ?? 0) + (value as number);
  return { config, lines };
}

/** The same operations with hints of events at places drawn anew. */
function replayWithHints(
  { config, lines }: Recorded,
  seed: number,
  counts: Counts,
): readonly string[] {
  const prng = new Prng(seed, 77);
  const rank = rankOf(config);
  const running: string[] = [];
  return lines.map(([operation]) => {
    if (operation.op === "forward.record") running.push(operation.args.step);
    if (operation.op === "forward.process") running.splice(running.indexOf(operation.args.step), 1);
    const answer = JSON.stringify(rank.apply(operation));
    while (running.length > 0 && prng.chance(1, 3)) {
      const args = { event: prng.pick(running), rank: prng.below(RANKS) };
      const hint = rank.apply({ op: "event.fire", args });
      expect([hint.digest, hint.fx], "a hint changes nothing").toEqual([undefined, undefined]);
      if (hint.ok !== undefined) counts["hints"] = (counts["hints"] ?? 0) + 1;
    }
    return answer;
  });
}

test("two ranks with completions of their own give the same lines, and so do other places of hints", () => {
  const total: Counts = {};
  for (const weights of WEIGHTS) {
    for (const layout of LAYOUTS) {
      const counts = sweepPart(`ranks ${weights} ${layout}`, () => {
        const found: Counts = {};
        for (const seed of seedsOf(SEEDS)) {
          const recorded = runRanks(weights, layout, seed, found);
          const lines = recorded.lines.map(([, line]) => line);
          for (const hints of [1, 2])
            expect(replayWithHints(recorded, seed * 10 + hints, found)).toEqual(lines);
          found["operations"] = (found["operations"] ?? 0) + lines.length;
        }
        return found;
      });
      for (const [name, value] of Object.entries(counts)) total[name] = (total[name] ?? 0) + value;
    }
  }
  sweepTotal(`ranks: ${JSON.stringify(total)}`);
  for (const name of ["waits", "elided", "hostWaits", "deadlines", "hints"])
    expect(total[name] ?? 0, name).toBeGreaterThan(0);
  expect(total["elided"]!).toBeLessThan(total["waits"]!);
});
