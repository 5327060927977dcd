// The command and what it keeps: cases, the state after an interrupt and a kill, the same result with more workers.
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { stressJson } from "../../../src/report/stress-json.js";
import { isSameFailure } from "../../../src/tools/findings.js";
import { minimizeCase } from "../../../src/tools/stress/minimize.js";
import { stressSeed } from "../../../src/tools/stress/seed.js";
import { replayCase, runStress, type StressOptions } from "../../../src/tools/stress/stress.js";
import { publishedSchemas } from "../../../src/trace/schema-documents.js";
import { loadScenarios } from "../../../src/workload/scenario.js";
import { start } from "../../cli/command-line.js";
import { PLANTS } from "./plants.js";

const folder = (): string => mkdtempSync(join(tmpdir(), "unified-trace-stress-"));
const OPTIONS: StressOptions = {
  seeds: { from: 0, to: 6 },
  ops: 150,
  layouts: ["full+window+state"],
  pageSizes: [4],
  profile: "default",
  device: "model",
  questionsEvery: 8,
  shard: null,
  jobs: 1,
  timeBudget: null,
  out: null,
  isMinimizing: false,
  scenarios: [],
  revision: "test",
};
const settle = PLANTS.find(({ name }) => name.startsWith("a settle retires"))!; // it is there

const keepsToSchema = new Ajv2020({ strict: false }).compile(
  publishedSchemas()["stress-report.schema.json"]!, // it is published
);

test("scenarios run first, under the same checks, and reach every refusal", async () => {
  const scenarios = loadScenarios([fileURLToPath(new URL("../../../scenarios", import.meta.url))]);
  const result = await runStress({ ...OPTIONS, scenarios, seeds: { from: 0, to: 1 } });
  expect(result.findings).toEqual([]);
  expect(result.scenarios).toBeGreaterThanOrEqual(scenarios.length);
  const cells = result.coverage.find(({ name }) => name === "refusals")?.items ?? [];
  expect(cells.filter(({ isCovered }) => !isCovered)).toEqual([]);
  const undo = settle.plant();
  try {
    expect((await runStress({ ...OPTIONS, scenarios, seeds: { from: 0, to: 0 } })).verdict).toBe(
      "failed",
    );
  } finally {
    undo();
  }
});

test("a finding is saved as a case, which fails with the mistake and not without", async () => {
  const out = folder();
  const undo = settle.plant();
  let file: string;
  try {
    const result = await runStress({ ...OPTIONS, out });
    expect(result.verdict).toBe("failed");
    const document: unknown = JSON.parse(JSON.stringify(stressJson(result, () => "command")));
    expect(keepsToSchema(document), JSON.stringify(keepsToSchema.errors)).toBe(true);
    const [finding] = result.findings.filter((each) => each.case !== null);
    file = finding!.case!; // some case is kept
    expect(loadScenarios([file])[0]?.found?.by).toBe("stress");
    const again = replayCase(file);
    expect(again.finding?.message).toBe(finding!.message);
    // Saved cases run first, and what is done is not done again.
    const second = await runStress({ ...OPTIONS, out });
    expect(second).toMatchObject({ resumed: result.runs, runs: result.runs, verdict: "failed" });
    expect(second.cases).toBe(readdirSync(join(out, "cases")).length);
    expect(second.findings.slice(second.findings.length - result.findings.length)).toEqual(
      result.findings,
    );
  } finally {
    undo();
  }
  expect(replayCase(file).finding).toBeNull();
  const { code, stdout } = await start(["stress", "--replay", file]);
  expect(stdout).toMatch(/^not repeated: /m);
  expect(code).toBe(7);
});

test("a case is shrunk in its place and keeps its failure", async () => {
  const out = folder();
  const undo = settle.plant();
  try {
    const { findings } = await runStress({ ...OPTIONS, seeds: { from: 0, to: 3 }, out });
    const finding = findings.find((each) => each.case !== null)!; // some case is kept
    const before = loadScenarios([finding.case!])[0]!.ops.length;
    await minimizeCase(finding.case!, {});
    const after = loadScenarios([finding.case!])[0]!.ops.length;
    expect(after).toBeLessThan(before);
    expect(after).toBeLessThanOrEqual(20);
    const again = replayCase(finding.case!).finding!; // it fails
    expect(isSameFailure(again.signature, finding.signature)).toBe(true);
  } finally {
    undo();
  }
});

test("of each signature few cases are kept", async () => {
  const out = folder();
  const undo = settle.plant();
  try {
    const { findings } = await runStress({ ...OPTIONS, seeds: { from: 0, to: 20 }, out });
    const kept = new Map<string, number>();
    for (const { signature, case: file } of findings)
      if (file !== null) {
        const key = JSON.stringify(signature);
        kept.set(key, (kept.get(key) ?? 0) + 1);
      }
    for (const [key, count] of kept) expect(count, key).toBeLessThanOrEqual(3);
    expect(readdirSync(join(out, "cases"))).toHaveLength(
      [...kept.values()].reduce((sum, count) => sum + count, 0),
    );
  } finally {
    undo();
  }
});

test("the same seed gives the same result twice, and another seed another one", () => {
  const options = { seed: 3, ops: 120, layout: "full+2window", pageSize: 4 } as const;
  const run = (seed: number): unknown => {
    const { counts, coverage, findings } = stressSeed({ ...options, seed });
    return { counts, coverage: coverage.entries(), findings };
  };
  expect(run(3)).toEqual(run(3));
  expect(run(4)).not.toEqual(run(3));
});

const WORDS = ["stress", "--seeds", "0:24", "--ops", "200", "--layouts", "full+window", "--json"];

/** The document without what tells only of this start. */
function documentOf(stdout: string): unknown {
  return { ...(JSON.parse(stdout) as object), resumed: 0 };
}

test("more workers and shards give the same result; an interrupt and a kill lose nothing", async () => {
  const whole = await start(WORDS);
  expect(whole.code).toBe(0);
  const [two, shards] = [
    await start([...WORDS, "--jobs", "2"]),
    await Promise.all(["1/2", "2/2"].map((part) => start([...WORDS, "--shard", part]))),
  ];
  expect(documentOf(two.stdout)).toEqual(documentOf(whole.stdout));
  const runs = shards.map(({ stdout }) => (JSON.parse(stdout) as { runs: number }).runs);
  expect(runs).toEqual([12, 12]);
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGKILL", null],
  ] as const) {
    const out = folder();
    const words = [...WORDS, "--out", out];
    // The signal comes once something is done.
    const broken = await start(words, {
      onStart: async (kill) => {
        while (!existsSync(join(out, "stress-state.json")))
          await new Promise((resolve) => setTimeout(resolve, 20));
        kill(signal);
      },
    });
    expect(broken.code).toBe(code);
    const state = JSON.parse(readFileSync(join(out, "stress-state.json"), "utf8")) as {
      units: unknown[];
    };
    expect(state.units.length).toBeGreaterThan(0);
    const rest = await start(words);
    expect(JSON.parse(rest.stdout)).toMatchObject({ resumed: state.units.length });
    expect(documentOf(rest.stdout)).toEqual(documentOf(whole.stdout));
  }
}, 240_000);

test("exit codes: a budget that is over is incomplete, the CUDA device comes later, nonsense is usage", async () => {
  const codes = async (...words: string[]): Promise<number | null> =>
    (await start(["stress", ...words])).code;
  expect(await codes("--seeds", "0:50", "--time-budget", "0.001")).toBe(6);
  expect(await codes("--device", "cuda")).toBe(4);
  expect(await codes("--shard", "3/2")).toBe(2);
  expect(await codes("--profile", "stedy")).toBe(2);
  expect(await codes("--minimize")).toBe(2);
  expect(await codes("--replay", "no-such-case.json")).toBe(3);
  expect(await codes("--replay", "case.json", "--seeds", "1")).toBe(2);
});
