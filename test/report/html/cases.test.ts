// The page of many runs: failures first and in full, the maps of the first of them as the states are, nothing of a name or a
// message becomes markup, and what is left out is said.
import { inflateRawSync } from "node:zlib";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Adapter } from "../../../src/adapter/adapter.js";
import { InProcessAdapter } from "../../../src/adapter/in-process.js";
import type { Answer, Operation } from "../../../src/base/operations.js";
import type { ReportCase } from "../../../src/report/case-report.js";
import { caseOf } from "../../../src/report/case-report.js";
import { casesPage, MAPS_MAX } from "../../../src/report/html/cases-page.js";
import { NO_DETAIL } from "../../../src/report/html/failure-html.js";
import { runPage, type ToldScenario } from "../../../src/report/html/run-page.js";
import { stressPage } from "../../../src/report/html/stress-page.js";
import { unpack } from "../../../src/report/html/shared/unpack.js";
import type { RunResult, ScenarioResult } from "../../../src/tools/outcome.js";
import { runScenarios } from "../../../src/tools/run-scenarios.js";
import { failingRun } from "../../../src/tools/stress/failing-run.js";
import { runStress, type StressFinding } from "../../../src/tools/stress/stress.js";
import { collectCase } from "../../../src/tools/view/case-view.js";
import { failedScenario } from "../../../src/tools/view/failed-scenario.js";
import { loadScenarios } from "../../../src/workload/scenario.js";
import { defect } from "../../defects/checkpoint-not-digested.js";
import { root } from "../../cli/command-line.js";
import { at, FaultyAdapter, type Mistake, right } from "../../tools/faulty-adapter.js";

const HOSTILE = `</script><script>window.hostile=1</script>"'&<img src=x onerror=hostile()>\u2028`;
const scenarios = loadScenarios([
  join(root, "scenarios", "ids_first_in_first_out.json"),
  join(root, "scenarios", "fill_to_the_last_page.json"),
]);
const N = 3; // an operation of both

const starting = (mistake: Mistake) => async (): Promise<Adapter> => new FaultyAdapter(mistake);
const refused = at(N, (): Answer => ({ err: { code: "refused_capacity", limit: "ids" } as never }));

async function pageOf(mistake: Mistake): Promise<{ html: string; result: RunResult }> {
  const start = starting(mistake);
  const result = await runScenarios({ scenarios, start });
  const told = new Map<ScenarioResult, ToldScenario>();
  for (const one of result.scenarios) {
    const scenario = scenarios.find(({ name }) => name === one.name)!;
    if (one.verdict !== "failed") continue;
    const implementation = { spec: "planted", start };
    const { config } = one;
    const again = await failedScenario({ scenario, config, implementation, n: one.n! });
    told.set(one, { story: HOSTILE, again, noMaps: null });
  }
  const reproduce = ({ name }: ScenarioResult): string => `again ${name} ${HOSTILE}`;
  const parts = runPage({ result, told, reproduce, notes: [HOSTILE] });
  return { html: casesPage(parts).html, result };
}

const { html, result } = await pageOf(refused);

describe("the page of run", () => {
  test("counts what failed and lists every run, failures first", async () => {
    expect(result.scenarios.every(({ verdict }) => verdict === "failed")).toBe(true);
    const count = result.scenarios.length;
    expect(html).toContain(`<h1>${count} of ${count} runs failed.</h1>`);
    const mixed = runPage({
      ...{ told: new Map(), reproduce: () => null, notes: [] },
      result: {
        ...result,
        scenarios: [
          { ...result.scenarios[0]!, name: "well", verdict: "passed" },
          { ...result.scenarios[0]!, name: "unsure", verdict: "incomplete" },
          { ...result.scenarios[0]!, name: "wrong" },
        ],
      },
    });
    const rows = [...casesPage(mixed).html.matchAll(/<tr class="case-(\w+)">/g)];
    expect(rows.map(([, status]) => status)).toEqual(["failed", "skipped", "passed"]);
  });

  test("tells what was asked, expected and answered, and the line for it", () => {
    const [first] = scenarios;
    const { operation } = first!.ops[N]!;
    expect(html).toContain(`Asked: <code>${operation.op} `);
    expect(html).toContain("refused_capacity: limit ids");
    expect(html).toContain(`again ${first!.name} &lt;/script&gt;`);
  });

  test("without a failure there is the table and no stage", async () => {
    const page = await pageOf(right);
    expect(page.html).toContain(`<h1>All ${page.result.scenarios.length} runs passed.</h1>`);
    expect(page.html).not.toContain('id="stage"');
    expect(page.html).not.toContain('id="data-0"');
  });

  test("the maps are of the run that failed, up to the failure and behind it", async () => {
    const base64 = /id="data-0">([\w+/=]*)<\/script>/.exec(html)![1]!;
    const data = unpack(new Uint8Array(inflateRawSync(Buffer.from(base64, "base64"))));
    const { ops, configs } = scenarios[0]!;
    const adapter = new InProcessAdapter({ device: "none" });
    await adapter.open({ run: "r", domain: "kv", config: configs[0]![1], digestDepth: null });
    const asked: Operation[] = ops.map(({ operation }) => operation);
    const { answers } = await adapter.apply(asked.slice(0, N));
    for (const [frame, answer] of answers.entries()) {
      const { ok } = JSON.parse(data.details(frame)!.base!);
      expect(ok).toEqual(JSON.parse(JSON.stringify(answer.ok)));
      expect(JSON.parse(data.details(frame)!.args)).toEqual(asked[frame]!.args);
    }
    expect(JSON.parse(data.details(N)!.base!).err.code).toBe("refused_capacity");
    expect(data.head.marks.map(({ n, kind }) => [n, kind])).toEqual([[N, "failure"]]);
    expect(data.n.length).toBeGreaterThan(N + 1);
    await adapter.dispose();
  });

  test("an implementation that breaks: its maps end there", async () => {
    const breaks = at(N, () => ({ kind: "crash", message: HOSTILE }));
    const page = await pageOf(breaks);
    expect(page.html).toContain("no answer");
    expect(page.html).toContain('id="data-0"');
    expect(page.html.match(/<script>/g)).toHaveLength(1);
  });
});

describe("hostile texts", () => {
  test("are text everywhere", () => {
    expect(html.match(/<script>/g)).toHaveLength(1);
    const blocks = html.match(/<script type="application\/octet-stream"/g) ?? [];
    expect(html.match(/<\/script/g)).toHaveLength(1 + blocks.length);
    expect(html).not.toContain("<img");
    expect(html).not.toContain("\u2028");
    expect(html).not.toMatch(/<[^>]*\s(src|href|style|on\w+)=/);
  });
});

test("what is not in the page is said, and has its line", () => {
  const cases = Array.from({ length: 301 }, (_none, index) =>
    caseOf(`run ${index}`, { status: "failed", kind: "failed", reproduce: `again ${index};` }),
  );
  const page = casesPage({
    report: {
      ...{ command: "run", verdict: "failed", isGood: false, summary: [], first: null },
      suites: [{ name: "s", properties: [], cases }],
    },
    ...{ heading: "", numbers: [], notes: [], text: "" },
    details: new Map<ReportCase, typeof NO_DETAIL>(),
  });
  expect(page.html).toContain("The first 300 failures are told in full");
  for (const index of [0, 299, 300]) expect(page.html).toContain(`again ${index};`);
  expect(page.html.match(/class="failure"/g)).toHaveLength(300);
});

describe("the page of stress", () => {
  test("a finding's run is had again from its seed, and is at the same operation", async () => {
    const undo = defect.plant();
    try {
      const found = await runStress({
        seeds: { from: 0, to: 4 },
        ...{ ops: 200, layouts: ["full+window+state"], pageSizes: [16], profile: "swarm" },
        ...{ questionsEvery: 8, device: "model", shard: null, jobs: 1, timeBudget: null },
        ...{ out: null, isMinimizing: false, scenarios: [], revision: "r" },
      });
      const [finding] = found.findings;
      const plan = { ops: 200, questionsEvery: 8, isReplayed: false };
      const workload = failingRun(finding!, plan)!;
      const start = async (): Promise<Adapter> => new InProcessAdapter({ device: "none" });
      const n = finding!.n;
      const again = await collectCase({ workload, implementation: { spec: "self", start }, n });
      expect(again.asked!.op).toBe(finding!.signature.op);
      expect(again.view!.frames.some((frame) => frame.n === n)).toBe(true);
      const told = new Map([[finding!, again]]);
      const reproduce = ({ run }: StressFinding): string => `again ${run}`;
      const parts = stressPage({ result: found, told, reproduce, notes: [] });
      const page = casesPage(parts).html;
      expect(page).toContain(`again ${finding!.run}`);
      expect(page).toContain('id="data-0"');
      expect(MAPS_MAX).toBeGreaterThan(0);
    } finally {
      undo();
    }
  });
});
