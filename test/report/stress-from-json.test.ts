// A saved document of `stress` prints as the run itself did, in every form.
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stressCases } from "../../src/report/stress-cases.js";
import { stressFromJson } from "../../src/report/stress-from-json.js";
import { stressJson } from "../../src/report/stress-json.js";
import type { Reproduce } from "../../src/report/stress-text.js";
import { stressText } from "../../src/report/stress-text.js";
import { PLAIN } from "../../src/report/palette.js";
import { noStressCounts } from "../../src/tools/stress/run.js";
import type { StressFinding, StressResult } from "../../src/tools/stress/stress.js";
import type { JsonFile } from "../../src/workload/json-file.js";
import { readJsonFile } from "../../src/workload/json-file.js";
import { freshPath } from "../tools/faulty-adapter.js";

const race: StressFinding = {
  ...{ signature: { check: "race", op: "tokens.extend", component: "w0" }, n: 7 },
  ...{ message: "two actors", actors: ["f1", "c2"], bytes: [0, 4096], band: "w0" },
  ...{ run: "full+window/p16/seed-3", profile: "mixed", seed: 3, case: "cases/race.json" },
};
const leak: StressFinding = {
  ...{ signature: { check: "leak", op: "tokens.free", component: null }, n: 9, message: "a page" },
  ...{ run: "case-1", profile: null, seed: 0, case: null },
};
const result: StressResult = {
  ...{ verdict: "failed", runs: 2, resumed: 1, cases: 1, scenarios: 4, leftOut: 3 },
  findings: [race, leak],
  counts: { ...noStressCounts(), operations: 40, tried: 2, waits: 5 },
  coverage: [
    {
      name: "effects",
      covered: 1,
      items: [
        { name: "move", count: 3, isCovered: true },
        { name: "zero", count: 0, isCovered: false, note: "not reached" },
      ],
    },
  ],
};

function saved(document: unknown): JsonFile {
  const path = freshPath("stress.json");
  writeFileSync(path, JSON.stringify(document));
  return readJsonFile(path);
}

function forms(of: StressResult, reproduce: Reproduce): unknown {
  const texts = [false, true].map((verbose) => stressText(of, PLAIN, verbose, reproduce));
  return [texts, stressJson(of, reproduce), stressCases(of, reproduce)];
}

test.each([
  ["with findings", result],
  ["passed", { ...result, verdict: "passed", findings: [] } as const],
  ["incomplete", { ...result, verdict: "incomplete", findings: [leak] } as const],
])("a run %s", (_name, run) => {
  const reproduce: Reproduce = ({ seed }) => (seed === 3 ? "unified-trace stress …" : null);
  const again = stressFromJson(saved(stressJson(run, reproduce)));
  expect(again.result).toEqual(run);
  expect(forms(again.result, again.reproduce)).toEqual(forms(run, reproduce));
});

test("what cannot be printed again is told with its place", () => {
  const document = stressJson(result, () => null) as object;
  const wrong = { ...document, verdict: "not_repeated", findings: [] };
  expect(() => stressFromJson(saved(wrong))).toThrow(/no longer fails/);
  expect(() => stressFromJson(saved({ ...document, runs: -1 }))).toThrow(/runs/);
  expect(() => stressFromJson(saved({ command: "run" }))).toThrow(/run --report prints it/);
});
