// Two allocators that share no code answer every operation of a seeded run alike: results, refusals, effects, digests.
import { expect, it } from "vitest";
import type { Answer, KvOperation } from "../../src/base/operations.js";
import { KVStorage } from "../../src/kv/storage.js";
import { Reference } from "../../src/reference/reference.js";
import { LAYOUTS } from "../../src/workload/layouts.js";
import { seededWorkload, type SeededOptions } from "../../src/workload/seeded.js";
import { type Counts, seedsOf, sweepPart, sweepTotal } from "./sweep.js";

const PROFILES = [
  "default",
  "roomy",
  "churn",
  "forwards",
  "serial",
  "hostile",
  "steady",
  "swarm",
  "tight",
  "transfers",
  "windows",
  "speculative",
  "stages",
];
const PAGE_SIZES = [1, 3, 16, 64];
const SEEDS = 20;
const OPERATIONS = 300;

for (const weights of PROFILES) {
  for (const layout of LAYOUTS) {
    const name = `${weights} ${layout}`;
    it(`both allocators answer alike: ${name}`, { timeout: 600_000 }, () => {
      const counts = sweepPart(`reference ${name}`, () => {
        const found: Counts = { runs: 0, operations: 0, refusals: 0, digests: 0 };
        for (const pageSize of PAGE_SIZES)
          for (const seed of seedsOf(SEEDS))
            compareRun({ seed, ops: OPERATIONS, layout, pageSize, weights }, found);
        return found;
      });
      sweepTotal(`reference ${name}: ${JSON.stringify(counts)}`);
      const runs = PAGE_SIZES.length * seedsOf(SEEDS).length;
      expect(counts["runs"]).toBe(runs);
      expect(counts["operations"]).toBe(runs * OPERATIONS);
      expect(counts["digests"]).toBeGreaterThan(runs * OPERATIONS * 0.3);
      expect(counts["refusals"]).toBeGreaterThan(0);
    });
  }
}

function compareRun(options: SeededOptions, counts: Counts): void {
  const workload = seededWorkload(options);
  const self = new KVStorage(workload.config, { digestDepth: "layout" });
  if (self.direct === null) throw new Error(`${workload.run} has no direct form`);
  const reference = new Reference(self.direct, "layout");
  let answer: Answer | null = null;
  const count = (name: string): void => void (counts[name] = (counts[name] ?? 0) + 1);
  for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
    if (!("operation" in step)) continue;
    const operation = step.operation as KvOperation; // the domain is kv
    answer = self.apply(operation);
    const digest = self.takeDigest();
    const other = reference.apply(operation);
    const where = `${options.weights ?? ""} ${workload.run} ${JSON.stringify(operation)}`;
    expect(contentOf(other), where).toEqual(contentOf({ ...answer, ...(digest && { digest }) }));
    count("operations");
    if (digest !== undefined) count("digests");
    if (answer.err !== undefined) count("refusals");
  }
  count("runs");
}

// Without remarks; lists that mean a set are put in order.
function contentOf(answer: Answer): unknown {
  return JSON.parse(
    JSON.stringify(answer, (key: string, value: unknown) => {
      if (key === "message") return undefined;
      const isSet = (key === "violations" || key === "holders") && Array.isArray(value);
      return isSet ? value.map((entry) => JSON.stringify(entry)).sort() : value;
    }),
  );
}
