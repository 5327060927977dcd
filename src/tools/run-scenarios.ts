// Runs scenarios against what they expect and what must hold at their end: the entry of a CI.
import type { Scenario } from "../workload/scenario.js";
import { Candidate } from "./candidate.js";
import type { StartAdapter } from "./candidate.js";
import { coveragePercent } from "./coverage-counts.js";
import type { RunResult, RunVerdict, ScenarioResult } from "./outcome.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import { RunCoverage } from "./run-coverage.js";
import { runScenario } from "./run-scenario.js";
import { dearestFirst, ofShard } from "./shards.js";
import type { ShardPart, ShardPiece } from "./shards.js";

/** The folder of failing cases that were saved. @internal */
export const SAVED_FOLDER = "cases";

/** @public */
export interface RunScenariosOptions extends ToolControl {
  readonly scenarios: readonly Scenario[];
  readonly start: StartAdapter;
  /** Only this configuration; null: every one that a scenario names. */
  readonly config?: string | null;
  readonly shard?: ShardPart; // only the runs of this part
  readonly isTimeOver?: () => boolean; // asked before each run: what is left then is left out
  readonly coverage?: CoverageAsked; // absent: not counted
}

/** @public */
export interface CoverageAsked {
  readonly floor: number | null; // percent; below it the verdict is short
}

/** Runs every scenario on every configuration it names. @public */
export async function runScenarios(options: RunScenariosOptions): Promise<RunResult> {
  const candidate = new Candidate(options.start);
  const pulse = new Pulse(options);
  const plan = planOf(options);
  const results = new Map<number, ScenarioResult>();
  const coverage = options.coverage === undefined ? null : new RunCoverage();
  const { watch } = coverage ?? {};
  try {
    await candidate.ready();
    for (const { place, scenario, config } of plan.pieces) {
      if (options.isTimeOver?.() === true) break;
      results.set(place, await runScenario(scenario, config, candidate, pulse, watch));
      pulse.runs += 1;
    }
  } finally {
    await candidate.dispose();
  }
  return covered(resultOf(plan, results, pulse.operations), coverage, options.coverage);
}

/** What is run, in the order in which it begins. @internal */
export interface RunPlan {
  readonly all: number; // runs of every part
  readonly pieces: readonly Piece[]; // of this part
}

/** @internal */
export function planOf(
  options: Pick<RunScenariosOptions, "scenarios" | "config" | "shard">,
): RunPlan {
  const all = piecesOf(options);
  const own = options.shard === undefined ? all : ofShard(all, options.shard);
  return { all: all.length, pieces: inOrder(own) };
}

/** @param results - by place; told in the order in which they were named, whatever came first. @internal */
export function resultOf(
  plan: RunPlan,
  results: ReadonlyMap<number, ScenarioResult>,
  operations: number,
): RunResult {
  const scenarios = [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
  const leftOut = plan.all - scenarios.length;
  const verdict = overall(scenarios);
  return {
    verdict: verdict === "passed" && leftOut > 0 ? "incomplete" : verdict,
    scenarios,
    operations,
    counters: {},
    leftOut,
  };
}

/** The result with what was exercised; all passed and too little exercised is short. @internal */
export function covered(
  result: RunResult,
  coverage: RunCoverage | null,
  asked: CoverageAsked | undefined,
): RunResult {
  if (coverage === null) return result;
  const tables = coverage.tables();
  const percent = coveragePercent(tables);
  const floor = asked?.floor ?? null;
  const isShort = result.verdict === "passed" && floor !== null && percent < floor;
  const verdict = isShort ? "short" : result.verdict;
  return { ...result, verdict, coverage: { percent, floor, tables } };
}

/** A scenario on one of its configurations. @internal */
export interface Piece extends ShardPiece {
  readonly place: number; // in the list of all
  readonly scenario: Scenario;
  readonly config: string | null;
}

const START_COST = 8; // of a run, in operations: it is set up, booted, drained and looked at

function piecesOf({
  scenarios,
  config: only,
}: Pick<RunScenariosOptions, "scenarios" | "config">): Piece[] {
  const pieces: Piece[] = [];
  for (const scenario of scenarios) {
    const cost = START_COST + scenario.ops.length;
    for (const [config] of scenario.configs) {
      if ((only ?? config) !== config) continue;
      const name = config === null ? scenario.name : `${scenario.name}@${config}`;
      pieces.push({ place: pieces.length, name, cost, scenario, config });
    }
  }
  return pieces;
}

/** Saved failures first, as they were named; then the slowest, so that the last ones to begin are short. */
function inOrder(pieces: readonly Piece[]): Piece[] {
  const isSaved = ({ scenario }: Piece): boolean =>
    scenario.file.split(/[/\\]/).at(-2) === SAVED_FOLDER;
  const saved = pieces.filter(isSaved).sort((left, right) => left.place - right.place);
  return [...saved, ...dearestFirst(pieces.filter((piece) => !isSaved(piece)))];
}

function overall(results: readonly ScenarioResult[]): RunVerdict {
  const order: readonly RunVerdict[] = ["failed", "invalid", "incomplete"];
  return order.find((verdict) => results.some((one) => one.verdict === verdict)) ?? "passed";
}
