// `stress`: saved cases first, then every seed that is not done yet; each finding is saved at once.
import type { Scenario } from "../../workload/scenario.js";
import { CoverageCounts, type CoverageTable } from "../coverage-counts.js";
import { type Finding, isSameFailure } from "../findings.js";
import type { ToolControl } from "../pulse.js";
import { minimizeCase } from "./minimize.js";
import { loadCase, openFolder, pruneCases, saveCase, savedCases } from "./cases.js";
import { type StressScenarioResult, stressScenarios } from "./scenarios.js";
import { ResumeState, type UnitResult } from "./resume.js";
import { noStressCounts, type StressCounts, type StressDevice } from "./run.js";
import { stressCase } from "./seed.js";
import {
  type PlainResult,
  runNameOf,
  unitCount,
  unitPlace,
  type UnitPlan,
  unitsOf,
  workThrough,
} from "./units.js";

const SAVE_EVERY_MS = 1000;

/** @public */
export interface StressOptions extends UnitPlan, ToolControl {
  readonly jobs: number;
  /** Scenarios that run before the seeds, under the same checks. */
  readonly scenarios: readonly Scenario[];
  /** Seconds after which no further run is begun; null: none. */
  readonly timeBudget: number | null;
  /** Where cases and the state lie; null: nothing is kept. */
  readonly out: string | null;
  /** Whether cases that were found are shrunk before the command ends. */
  readonly isMinimizing: boolean;
  /** Tells the sources apart that a state belongs to. */
  readonly revision: string;
  /** Told when finished runs of other options, revision or version were found, and moved to a file of their own. */
  readonly onSetAside?: (runs: number | null, file: string) => void;
}

/** One fault with the run that shows it. @public */
export interface StressFinding extends Finding {
  readonly run: string;
  readonly profile: string | null; // null: of a saved case
  readonly seed: number;
  readonly case: string | null; // file
}

/** @public */
export interface StressResult {
  readonly verdict: "passed" | "failed" | "incomplete";
  readonly runs: number; // seeds looked at, now or by the runs that this one goes on from
  readonly resumed: number; // of them, those found done
  readonly cases: number; // saved cases run again
  readonly scenarios: number; // scenarios run, each configuration counted
  readonly leftOut: number; // runs not begun: the time was over
  readonly findings: readonly StressFinding[];
  readonly counts: StressCounts;
  readonly coverage: readonly CoverageTable[];
}

/** Runs all seeds of a plan under all checks. @public */
export async function runStress(options: StressOptions): Promise<StressResult> {
  const { out, timeBudget, signal } = options;
  const begin = performance.now();
  if (out !== null) openFolder(out);
  const state = out === null ? null : new ResumeState(out, keyOf(options));
  if (state?.setAside) options.onSetAside?.(state.setAside.runs, state.setAside.file);
  const cases = out === null ? [] : savedCases(out);
  const counts = noStressCounts();
  const again = cases
    .map((file) => runCase(file, counts, options.device))
    .filter((one) => one !== null);
  const coverage = new CoverageCounts();
  let scenarios = 0;
  for (const found of options.shard === null || options.shard.index === 1
    ? stressScenarios(options.scenarios, options.device)
    : []) {
    signal?.throwIfAborted();
    scenarios += 1;
    again.push(...scenarioFindings(found));
    addCounts(counts, found.counts);
    coverage.join(found.coverage);
  }
  const isLate = (): boolean =>
    timeBudget !== null && performance.now() - begin > timeBudget * 1000;
  const { done, resumed } = await runSeeds(options, state, isLate);
  const leftOut = unitCount(options) - done.length;
  for (const unit of done) {
    coverage.join(new CoverageCounts(unit.coverage));
    addCounts(counts, unit.counts);
  }
  const findings = [...again, ...findingsOf(done)];
  if (options.isMinimizing)
    for (const { case: file } of findings) {
      signal?.throwIfAborted();
      if (file !== null)
        await minimizeCase(file, {
          device: options.device,
          isTimeOver: isLate,
          ...control(signal),
        });
    }
  return {
    verdict: findings.length > 0 ? "failed" : leftOut > 0 ? "incomplete" : "passed",
    runs: done.length,
    resumed,
    cases: cases.length,
    scenarios,
    leftOut,
    findings,
    counts,
    coverage: coverage.tables(),
  };
}

/** Runs the seeds that are not done yet. Finished runs come in the order of the plan. */
async function runSeeds(
  options: StressOptions,
  state: ResumeState | null,
  isLate: () => boolean,
): Promise<{ readonly done: readonly UnitResult[]; readonly resumed: number }> {
  const { out, jobs, signal } = options;
  const results = new Map<number, UnitResult>(); // by place
  const keep = (unit: UnitResult): void => {
    const place = unitPlace(options, unit.run);
    if (place !== null) results.set(place, unit);
  };
  for (const unit of state?.units ?? []) keep(unit);
  const resumed = results.size;
  let saved = performance.now();
  let operations = 0;
  const finish = (result: PlainResult): void => {
    const unit = unitResult(result, out);
    keep(unit);
    operations += unit.counts.operations;
    options.onProgress?.({ runs: results.size, operations, run: unit.run });
    if (state === null) return;
    state.add(unit);
    if (performance.now() - saved < SAVE_EVERY_MS) return;
    state.save();
    saved = performance.now();
  };
  const known = new Set([...results.values()].map(({ run }) => run));
  const left = (function* () {
    for (const unit of unitsOf(options)) if (!known.has(runNameOf(unit))) yield unit;
  })();
  const threads = Math.min(jobs, unitCount(options) - resumed);
  try {
    await workThrough(left, threads, isLate, signal, finish);
  } finally {
    state?.save();
  }
  const inOrder = [...results].sort(([one], [other]) => one - other);
  return { done: inOrder.map(([, unit]) => unit), resumed };
}

function scenarioFindings({ run, file, findings }: StressScenarioResult): StressFinding[] {
  return findings.map((finding) => ({ ...finding, run, profile: null, seed: 0, case: file }));
}

function control(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/** What a run depends on beside its layout, page size and seed. */
function keyOf({ ops, profile, questionsEvery, revision, device }: StressOptions): string {
  return JSON.stringify({ ops, profile, questionsEvery, revision, device });
}

/** A finding's case is on the disk before the run counts as done. */
function unitResult(result: PlainResult, out: string | null): UnitResult {
  const { run, seed, profile, config, findings, counts, coverage, ops } = result;
  const [finding] = findings;
  const file =
    out === null || finding === undefined
      ? null
      : saveCase(out, { run, seed, profile, config, ops, finding });
  return { run, profile, findings, counts, coverage, case: file };
}

/** Findings in the order of their runs; of each signature few cases are kept. */
function findingsOf(units: readonly UnitResult[]): readonly StressFinding[] {
  const saved = units.flatMap(({ case: file, findings: [first] }) =>
    file === null || first === undefined ? [] : [{ file, signature: first.signature, n: first.n }],
  );
  const kept = pruneCases(saved);
  return units.flatMap(({ run, profile, findings, case: file }) =>
    findings.map((finding, index) => ({
      ...finding,
      run,
      profile,
      seed: Number(run.slice(run.lastIndexOf("-") + 1)),
      case: index === 0 && file !== null && kept.has(file) ? file : null,
    })),
  );
}

function addCounts(total: StressCounts, own: StressCounts): void {
  for (const name of Object.keys(total) as (keyof StressCounts)[]) total[name] += own[name];
}

/** Runs a saved case again; null where it no longer fails. */
function runCase(file: string, counts: StressCounts, device: StressDevice): StressFinding | null {
  const { finding, seed, name, counts: own } = replayCase(file, device);
  addCounts(counts, own);
  return finding === null ? null : { ...finding, run: name, profile: null, seed, case: file };
}

/** @public */
export interface ReplayedCase {
  readonly name: string;
  readonly seed: number;
  /** The finding of the case's signature; without one in the file the first. Null: it no longer fails. */
  readonly finding: Finding | null;
  readonly others: readonly Finding[];
  readonly counts: StressCounts;
}

/** Runs a saved case once. Throws `InputError` for a file that is none. @public */
export function replayCase(file: string, device: StressDevice = "model"): ReplayedCase {
  const { name, config, ops, rules, seed, signature } = loadCase(file);
  // The rules that operations break tell what was expected; only a case about that is judged by it.
  const isAboutRules = signature?.check === "expectation";
  const { findings, counts } = stressCase(
    { config, ops },
    { seed, device, ...(isAboutRules ? { rules } : {}) },
  );
  const own =
    signature === null
      ? findings[0]
      : findings.find((finding) => isSameFailure(finding.signature, signature));
  const others = findings.filter((finding) => finding !== own);
  return { name, seed, finding: own ?? null, others, counts };
}

/** A case that was run alone as the result of a stress of nothing else. @public */
export function asStress(replayed: ReplayedCase, file: string): StressResult {
  const { name, seed, finding, others, counts } = replayed;
  const found = finding === null ? others : [finding, ...others];
  return {
    verdict: finding === null ? "passed" : "failed",
    ...{ runs: 0, resumed: 0, cases: 1, scenarios: 0, leftOut: 0, counts, coverage: [] },
    findings: found.map((one) => ({ ...one, run: name, profile: null, seed, case: file })),
  };
}
