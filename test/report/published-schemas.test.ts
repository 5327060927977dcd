// Real reports keep to the published schemas, whatever their verdict.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { Adapter } from "../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../src/adapter/in-process.js";
import { compareJson, runJson } from "../../src/report/json.js";
import { compareFiles } from "../../src/tools/compare-files.js";
import { compareTrace } from "../../src/tools/compare-trace.js";
import { runScenarios } from "../../src/tools/run-scenarios.js";
import { runWorkloads } from "../../src/tools/run-workload.js";
import type { CompareResult, RunResult } from "../../src/tools/outcome.js";
import { publishedSchemas } from "../../src/trace/schema-documents.js";
import { loadScenarios } from "../../src/workload/scenario-file.js";
import {
  at,
  FaultyAdapter,
  readLines,
  recorded,
  right,
  seeds,
  writeLines,
} from "../tools/faulty-adapter.js";
import type { Mistake } from "../tools/faulty-adapter.js";

const ajv = new Ajv2020({ strict: false, allErrors: true });
const trace = await recorded(seeds(0, 1));
const lines = readLines(trace);

// What a reader of the JSON text has, against what the sources publish and what lies in schemas/.
function keepsTo(name: string, document: unknown): void {
  const path = fileURLToPath(new URL(`../../schemas/${name}`, import.meta.url));
  const published: unknown = JSON.parse(readFileSync(path, "utf8"));
  expect(published).toEqual(JSON.parse(JSON.stringify(publishedSchemas()[name])));
  const id = (published as { $id: string }).$id;
  const validate = ajv.getSchema(id) ?? ajv.compile(published as object);
  void validate(JSON.parse(JSON.stringify(document)));
  expect(validate.errors ?? []).toEqual([]);
}

function against(mistake: Mistake): Promise<CompareResult> {
  const start = async (): Promise<Adapter> => new FaultyAdapter(mistake);
  return compareTrace({ trace, candidate: "planted", start });
}

const cases: readonly [string, string, () => Promise<CompareResult>][] = [
  ["equal", "equal", () => against(right)],
  ["a refusal", "divergent", () => against(at(9, () => ({ err: { code: "refused_rows" } })))],
  ["a state", "divergent", () => against(at(9, (was) => ({ ...was, digest: { full: "0" } })))],
  ["a crash", "divergent", () => against(at(9, () => ({ kind: "crash", message: "planted" })))],
  ["two files", "equal", () => compareFiles({ base: trace, candidate: trace })],
  [
    "two files that differ",
    "divergent",
    () => {
      const changed = lines.map((line) =>
        line.n === 9 ? { ...line, fx: [["reset", [[1, 1]]]] } : line,
      );
      return compareFiles({ base: trace, candidate: writeLines(changed) });
    },
  ],
  [
    "a run that only the base has",
    "divergent",
    () => {
      const other = lines.map((line) => ("run" in line ? { ...line, run: "other" } : line));
      return compareFiles({ base: trace, candidate: writeLines(other) });
    },
  ],
];

test.each(cases)("compare: %s", async (_name, verdict, compare) => {
  const result = await compare();
  expect(result.verdict).toBe(verdict);
  keepsTo("compare-report.schema.json", compareJson([result], "sha256 abc"));
});

const self = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });

const scenario = fileURLToPath(
  new URL("../../scenarios/backend_latent_rows.json", import.meta.url),
);
const wrong = async (): Promise<Adapter> =>
  new FaultyAdapter(at(0, () => ({ kind: "crash", message: "planted" })));
const runs: readonly [string, string, () => Promise<RunResult>][] = [
  [
    "a scenario",
    "passed",
    () => runScenarios({ scenarios: loadScenarios([scenario]), start: self }),
  ],
  [
    "a failed scenario",
    "failed",
    () => runScenarios({ scenarios: loadScenarios([scenario]), start: wrong }),
  ],
  ["a workload", "passed", () => runWorkloads({ workloads: seeds(0, 1), start: self })],
];

test.each(runs)("run: %s", async (_name, verdict, run) => {
  const result = await run();
  expect(result.verdict).toBe(verdict);
  keepsTo("run-report.schema.json", runJson(result));
});
