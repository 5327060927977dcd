// What this project's allocator does gives no finding: seeded runs of every profile, scenarios, serving runs.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Answer, DirectConfig, KvOperation } from "../../../src/base/operations.js";
import { KVStorage } from "../../../src/kv/storage.js";
import { auditTrace } from "../../../src/tools/audit/audit.js";
import { LAYOUTS } from "../../../src/workload/layouts.js";
import { loadScenarios, scenarioWorkload } from "../../../src/workload/scenario.js";
import { WEIGHT_NAMES } from "../../../src/workload/seeded.js";
import { servingPair } from "../../../src/workload/serving-pair.js";
import { servingWorkload } from "../../../src/workload/serving.js";
import type { WorkloadGroup } from "../../../src/workload/workload.js";
import { groupOf } from "../../../src/workload/workload.js";
import { smallOptions } from "../../workload/serving-small.js";
import { auditRun, type Line, type RecordedRun, seededRun, told } from "./runs.js";

const PAGE_SIZES = [1, 3, 16];
const OPERATIONS = 300;

/** Each run with its first finding, those without one left out. */
function findings(runs: Iterable<RecordedRun>): readonly string[] {
  const found: string[] = [];
  for (const run of runs) {
    const [first] = auditRun(run, 1);
    if (first !== undefined) found.push(`${run.name}: ${told(first)}`);
  }
  return found;
}

/** Every run of a group with its answers. */
function drive(name: string, group: WorkloadGroup, config: DirectConfig): readonly RecordedRun[] {
  const storages = group.runs.map(() => new KVStorage(config, { digestDepth: "layout" }));
  const lines = group.runs.map((): Line[] => []);
  let answer: Answer | null = null;
  for (let next = group.next(answer); next !== null; next = group.next(answer)) {
    if (!("operation" in next.step)) continue;
    const operation = next.step.operation as KvOperation;
    answer = storages[next.run]!.apply(operation); // one a run, as the lines
    lines[next.run]!.push({ operation, answer });
  }
  return lines.map((run, index) => ({ name: `${name}/${index}`, config, lines: run }));
}

describe("a run of this allocator gives no finding", () => {
  test.each(WEIGHT_NAMES)("seeded: %s", (weights) => {
    const runs = LAYOUTS.flatMap((layout, at) =>
      PAGE_SIZES.map((size, index) => seededRun(at + 5 * index, layout, size, weights, OPERATIONS)),
    );
    expect(findings(runs)).toEqual([]);
  });

  test("every scenario on every configuration", () => {
    const runs: RecordedRun[] = [];
    for (const scenario of loadScenarios(["scenarios"])) {
      if (scenario.invalid !== null) continue;
      for (const [name] of scenario.configs) {
        const workload = scenarioWorkload(scenario, name);
        const storage = new KVStorage(workload.config, { digestDepth: "layout" });
        const lines: Line[] = [];
        let answer: Answer | null = null;
        for (let step = workload.next(null); step !== null; step = workload.next(answer)) {
          if (!("operation" in step)) continue;
          const operation = step.operation as KvOperation;
          answer = storage.apply(operation);
          lines.push({ operation, answer });
        }
        if (storage.direct !== null)
          runs.push({ name: workload.run, config: storage.direct, lines });
      }
    }
    expect(runs.length).toBeGreaterThan(50);
    expect(findings(runs)).toEqual([]);
  });

  test.each(["extra_buffer", "extra_buffer_lazy", "no_buffer"] as const)(
    "serving with prefixes, a host cache and %s, alone and as a pair",
    (strategy) => {
      const runs = LAYOUTS.flatMap((layout, at) => {
        const pageSize = PAGE_SIZES[at % PAGE_SIZES.length]!; // in range
        const switches = { sharesPrefixes: true, host: 80, checkpoint: { strategy } };
        const options = smallOptions(at + 1, layout, pageSize, switches, 15);
        const name = `${layout}/p${pageSize}/${strategy}`;
        return [
          ...drive(name, groupOf(servingWorkload(options)), options.config),
          ...drive(`${name}/pair`, servingPair(options), options.config),
        ];
      });
      expect(findings(runs)).toEqual([]);
    },
    60_000,
  );

  test.each(["full-state", "full-window", "three-bands"])("golden trace %s", async (name) => {
    const trace = fileURLToPath(
      new URL(`../../../../shared/golden/${name}.jsonl`, import.meta.url),
    );
    if (!existsSync(trace)) {
      console.warn(`skipped: ${name} is not here`);
      return;
    }
    const result = await auditTrace({ trace });
    expect(result).toMatchObject({ findings: [], isPartial: false, error: null });
    expect(result.operations).toBeGreaterThan(10);
  });
});
