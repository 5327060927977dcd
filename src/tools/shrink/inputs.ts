// From what the user names to a case and its judge: a run of a trace, a scenario, a case that was shrunk before.
import { CandidateError, InputError, UsageError } from "../../base/errors.js";
import type { DigestDepth, DirectConfig, RunConfig } from "../../base/operations.js";
import { KVStorage } from "../../kv/storage.js";
import type { ReaderOptions } from "../../trace/reader.js";
import type { Scenario } from "../../workload/scenario.js";
import type { StartAdapter } from "../candidate.js";
import type { Signature } from "../findings.js";
import { runsOf } from "../trace-runs.js";
import type { TraceRun } from "../trace-runs.js";
import { caseOfScenario, signatureOf } from "./case-file.js";
import { tallied } from "./case.js";
import type { Looked, ShrinkCase } from "./case.js";
import { DivergenceJudge } from "./judge-divergence.js";
import { ScenarioJudge } from "./judge-scenario.js";
import type { RunningJudge } from "./judge.js";
import type { ShrinkOptions } from "./shrink.js";

/** Something to shrink. @public */
export interface ShrinkInput extends Pick<ShrinkOptions, "case" | "target"> {
  readonly name: string; // of the run or scenario
  readonly by: "divergence" | "scenario";
  readonly running: RunningJudge;
  readonly signature: Signature | null; // the failure it is said to show
  readonly note: string | null; // what limits the result
}

/** The two implementations. @public */
export interface ShrinkSides {
  readonly base: StartAdapter;
  readonly candidate: StartAdapter;
  readonly isSame: boolean; // both are named with the same words, so that they cannot differ
  readonly signal?: AbortSignal;
}

/**
 * The first run of a trace that fails, or the run that is named; where none does what was looked at. Throws `InputError` for a trace
 * that holds nothing to shrink, `UsageError` for an unknown run. @public
 */
export async function traceInput(
  trace: string,
  run: string | null,
  sides: ShrinkSides,
  reader: ReaderOptions,
): Promise<ShrinkInput | Looked> {
  const looked = { runs: 0, operations: 0 };
  for await (const traced of runsOf(trace, run, reader)) {
    const one = runCase(traced, trace);
    sides.signal?.throwIfAborted();
    const running = divergenceJudge(sides, one.depth);
    const { kind } = await tallied(running.judge, looked)(one.case);
    const input = { name: one.run, by: "divergence", running, case: one.case } as const;
    // a run that is named is shrunk or said not to fail; of all runs the first that fails is taken
    if (kind === "fails" || run !== null) return { ...input, signature: null, note: one.note };
    await running.dispose();
  }
  return looked;
}

/**
 * A scenario on one of its configurations: the first on which it fails. A case that was shrunk before is judged as it
 * was then. Where nothing fails what was looked at. @public
 */
export async function scenarioInput(
  scenario: Scenario,
  sides: ShrinkSides,
  config: string | null,
): Promise<ShrinkInput | Looked> {
  const { name, file, invalid } = scenario;
  if (invalid !== null) {
    throw new InputError("scenario", `operation ${invalid.index}: ${invalid.message}`, { file });
  }
  const { found } = scenario;
  if (found !== null && found.by !== "divergence" && found.by !== "scenario") {
    throw new UsageError(
      `${file}: the case is judged by ${found.by}, which shrinks its own (stress --minimize)`,
    );
  }
  if (config !== null && !scenario.configs.some(([label]) => label === config)) {
    const known = scenario.configs.flatMap(([label]) => label ?? []);
    const names = known.length === 0 ? "it has one without a name" : `it has ${known.join(", ")}`;
    throw new UsageError(`--run ${config}: no configuration of ${file}; ${names}`);
  }
  if (found?.by === "divergence") {
    const value = caseOfScenario(scenario);
    if (value === null) throw new InputError("scenario", "a case has one configuration", { file });
    const running = divergenceJudge(sides, "layout");
    const signature = signatureOf(found);
    return { name, by: "divergence", running, case: value, signature, note: null };
  }
  const looked = { runs: 0, operations: 0 };
  for (const [label, form] of scenario.configs) {
    if (config !== null && label !== config) continue;
    const direct = directForm(form, file);
    const running = new ScenarioJudge({
      scenario: { ...scenario, configs: [[null, direct]] },
      config: direct,
      candidate: sides.candidate,
      base: sides.isSame ? null : sides.base,
      control: sides.signal === undefined ? {} : { signal: sides.signal },
    });
    const begun = await running.begin();
    if (begun === null) {
      looked.runs += 1;
      looked.operations += scenario.ops.length;
      await running.dispose();
      continue;
    }
    const signature = found === null ? null : signatureOf(found);
    const note = running.hasOracle || begun.target === "free" ? null : WITHOUT_ORACLE;
    const shown = label === null ? name : `${name} on ${label}`;
    return { name: shown, by: "scenario", running, signature, note, ...begun };
  }
  return looked;
}

const WITHOUT_ORACLE =
  "no second implementation meets the failing expectation, so nothing tells whether it is still right in the shortened case";

function divergenceJudge(sides: ShrinkSides, digestDepth: DigestDepth): DivergenceJudge {
  const { base, candidate, signal } = sides;
  if (sides.isSame) {
    throw new UsageError(
      "the candidate is compared with itself: --candidate or --impl names another implementation",
    );
  }
  const options = { base, candidate, digestDepth };
  return new DivergenceJudge(signal === undefined ? options : { ...options, signal });
}

interface RunCase {
  readonly run: string;
  readonly case: ShrinkCase;
  readonly depth: DigestDepth;
  readonly note: string | null;
}

function runCase({ line, ops }: TraceRun, file: string): RunCase {
  const { run, config, derived } = line;
  return {
    run,
    case: { config: derived ?? directForm(config, file), ops },
    depth: line.digest_depth ?? "layout",
    note:
      "model" in config ? "the model form of the configuration gave way to its direct form" : null,
  };
}

/** A configuration in its direct form, which is what is shrunk. */
function directForm(config: RunConfig, file: string): DirectConfig {
  if (!("model" in config)) return config;
  try {
    const { direct } = new KVStorage(config, { digestDepth: null });
    if (direct !== null) return direct;
  } catch (thrown) {
    if (!(thrown instanceof InputError) && !(thrown instanceof CandidateError)) throw thrown;
  }
  throw new InputError("config", "the model form of its configuration is refused", { file });
}
