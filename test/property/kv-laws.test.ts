// Laws 1, 2 and 4 to 8 on the allocator, over seeded workloads of every profile: page sizes 1, 3, 16, 64, two to four
// bands. The model device verifies every page that an operation touches.
import { expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../src/base/operations.js";
import { Prng } from "../../src/base/prng.js";
import { chainConfig } from "../../src/kv/config.js";
import { KvCore } from "../../src/kv/core.js";
import { idleViolations } from "../../src/kv/operations/idle.js";
import { KVStorage } from "../../src/kv/storage.js";
import { type Layout, LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload } from "../../src/workload/seeded.js";
import { isQuestion, type RunRecord, runUnderLaws } from "./law-run.js";
import { type Counts, seedsOf, share, sweepPart, sweepTotal } from "./sweep.js";

const SEEDS = 200;
const OPERATIONS = 400;
const PROFILES = [
  "default",
  "steady",
  "swarm",
  "tight",
  "transfers",
  "windows",
  "speculative",
  "stages",
] as const;

/** Every profile takes its turn, among all seeds and among every tenth. */
function profileOf(seed: number): string {
  return PROFILES[(seed + Math.floor(seed / 10)) % PROFILES.length]!; // within the list
}

function runSeed(layout: Layout, pageSize: number, seed: number, counts: Counts): RunRecord {
  const options = { seed, ops: OPERATIONS, layout, pageSize, weights: profileOf(seed) };
  return runUnderLaws(options, counts);
}

/**
 * Laws 1 and 5 over a whole run: without its questions and refusals, and whatever has fired when on which rank, every
 * other line is the same, digest included. Stages fold every question by contract, so they keep theirs.
 */
function expectSameLines({ steps, lines, config }: RunRecord, seed: number): void {
  const prng = new Prng(seed, 11);
  const storage = new KVStorage(config, { digestDepth: "deep" });
  const unprocessed: string[] = [];
  let hasStages = false;
  for (const [n, [operation, answer]] of steps.entries()) {
    const isSilent = answer.err !== undefined || isQuestion(operation);
    if (operation.op === "event.fire" || (isSilent && !hasStages)) continue;
    hasStages ||= operation.op === "stages.install";
    if (unprocessed.length > 0 && prng.chance(1, 3)) {
      const args = { event: prng.pick(unprocessed), rank: prng.below(2) };
      expect(storage.apply({ op: "event.fire", args })).toEqual({ ok: {} });
    }
    const again = storage.apply(operation);
    const line = JSON.stringify([operation, again, storage.takeDigest()]);
    if (line !== lines[n]) expect(line, `laws 1 and 5, seed ${String(seed)}`).toBe(lines[n]);
    follow(unprocessed, operation, answer);
  }
}

function follow(unprocessed: string[], operation: KvOperation, answer: Answer): void {
  // An event exists from a forward's recording to its processing; without overlap there is none.
  if (operation.op === "forward.record" && answer.fx !== undefined)
    unprocessed.push(operation.args.step);
  if (operation.op !== "forward.process" || answer.ok === undefined) return;
  const index = unprocessed.indexOf(operation.args.step);
  if (index >= 0) unprocessed.splice(index, 1);
}

function sweep(layout: Layout, pageSize: number): Counts {
  const total: Counts = {};
  for (const seed of seedsOf(SEEDS)) {
    const name = `kv-laws ${layout} p${String(pageSize)} seed ${String(seed)}`;
    const counts = sweepPart(name, () => {
      const fresh: Counts = {};
      const first = runSeed(layout, pageSize, seed, fresh);
      expect(first.lines.length).toBe(OPERATIONS);
      if (seed % 20 === 0)
        expect(runSeed(layout, pageSize, seed, {}).lines, "law 8").toEqual(first.lines);
      expectSameLines(first, seed);
      return fresh;
    });
    for (const [key, value] of Object.entries(counts)) total[key] = (total[key] ?? 0) + value;
  }
  return total;
}

/** What is worth telling of a sweep: shares in percent, and how often the rarer things happened. */
function describe(total: Counts): string {
  const percent = (part: string, whole: string): string => share(total, part, whole).toFixed(1);
  const rare = ["relayout", "moves", "hostwaits", "deadlines", "stalls", "hits", "evictions"];
  rare.push("backups", "loads", "donations", "checkpoint_stalls");
  return (
    `${String(total["operations"])} operations, refused ${percent("refusals", "operations")} %, ` +
    `invalid ${percent("invalid", "operations")} %, takes above no_move ${percent("above_no_move", "takes")} %, ` +
    `with pending pages ${percent("with_pending", "operations")} %; ` +
    rare.map((name) => `${name} ${String(total[name] ?? 0)}`).join(", ")
  );
}

for (const layout of LAYOUTS) {
  for (const pageSize of [1, 3, 16, 64]) {
    test(`laws on ${layout}, page size ${String(pageSize)}`, () => {
      const total = sweep(layout, pageSize);
      sweepTotal(`${layout} p${String(pageSize)}: ${describe(total)}`);
      expect(share(total, "refusals", "operations")).toBeGreaterThanOrEqual(5);
      expect(share(total, "above_no_move", "takes")).toBeGreaterThanOrEqual(5);
      expect(share(total, "with_pending", "operations")).toBeGreaterThanOrEqual(5);
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
