// The JSON documents of the commands, from the tools' data. Keys are only ever added. Of a differing field the side
// that has nothing there is null, and `absent` names that side.
import { heapStatsJson } from "./heap-json.js";
import type { UnifiedTraceError } from "../base/errors.js";
import { votesOf } from "../tools/compare-many.js";
import type {
  CompareResult,
  CompareVerdict,
  Divergence,
  FieldDifference,
  RecordResult,
  ReplayResult,
  RunComparison,
  RunResult,
  SideInfo,
} from "../tools/outcome.js";
import { servedNothing } from "../tools/served-nothing.js";
import { coveragePercent } from "../tools/coverage-counts.js";
import type { Coverage } from "../tools/coverage.js";
import type { MemoryStats } from "../tools/stats-memory.js";
import type { TraceStats } from "../tools/stats.js";
import { alignmentJson, recoveryOf } from "./alignment-json.js";
import { curveJson } from "./curve-json.js";
import { coverageTablesJson, runCoverageJson } from "./coverage-json.js";
import { errorOrNull } from "./error-json.js";

// From the verdict that counts most on.
const VERDICTS: readonly CompareVerdict[] = [
  "divergent",
  "flaky",
  "invalid",
  "incomplete",
  "agree",
  "equal",
];

/** The document of `compare`, of one candidate or of several; `trace` is the hash of the base. @public */
export function compareJson(results: readonly CompareResult[], trace: string | null): unknown {
  const isOne = results.length === 1;
  const sum = (of: (result: CompareResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const [head] = results;
  const base = head?.base ?? null;
  const error = results.find((result) => result.error !== null)?.error ?? null;
  const firsts = results.flatMap(({ first }) => (first === null ? [] : [first]));
  return {
    command: "compare",
    verdict:
      VERDICTS.find((word) => results.some(({ verdict }) => verdict === word)) ?? "incomplete",
    mode: head?.mode ?? "exact",
    base: base === null ? null : { ...sideJson(base), trace },
    candidates: results.flatMap(({ candidate }) =>
      candidate === null ? [] : [sideJson(candidate)],
    ),
    differences: results.flatMap((result) => differencesJson(result, isOne)),
    runs: results.flatMap((result) => runsJson(result, isOne)),
    first: firsts.reduce<CompareResult["first"]>(
      (earliest, each) => (earliest === null || each.n < earliest.n ? each : earliest),
      null,
    ),
    ...(isOne ? {} : { votes: votesOf(results), comparisons: results.map(comparisonJson) }),
    operations: sum(({ operations }) => operations),
    skipped: sum(({ skipped }) => skipped),
    hidden: sum(({ hidden }) => hidden),
    left_out: sum(({ leftOut }) => leftOut),
    gone: head?.gone ?? [],
    unread: results.some(({ unread }) => unread),
    ...(results.some(({ times }) => times !== undefined)
      ? { times: results.map(({ times }) => times ?? null) }
      : {}),
    error: errorOrNull(error),
  };
}

// What the document's own keys sum up; without these, a report of several could not be printed again.
function comparisonJson(result: CompareResult): unknown {
  const { base, candidate } = result;
  return {
    base: base === null ? null : sideJson(base),
    candidate: candidate === null ? null : sideJson(candidate),
    verdict: result.verdict,
    differences: result.differences.length,
    runs: result.runs.length,
    first: result.first,
    operations: result.operations,
    skipped: result.skipped,
    unread: result.unread,
    hidden: result.hidden,
    left_out: result.leftOut,
    gone: result.gone,
    error: errorOrNull(result.error),
  };
}

function differencesJson({ candidate, differences }: CompareResult, isOne: boolean): unknown[] {
  return differences.map(({ what, base, candidate: other, isLoss }) => ({
    ...(isOne ? {} : { spec: candidate?.spec ?? null }),
    ...{ what, base, candidate: other },
    loss: isLoss, // something is therefore not compared
  }));
}

function runsJson(result: CompareResult, isOne: boolean): unknown[] {
  return result.runs.map((run) => ({
    ...(isOne ? {} : { candidate: result.candidate?.spec ?? null }),
    run: run.run,
    verdict: run.verdict,
    agreed: run.agreed,
    agreed_refusals: run.agreedRefusals,
    operations: run.operations,
    skipped: run.skipped,
    divergence: run.divergence === null ? null : divergenceJson(run.divergence, run),
    unstable:
      run.unstable === null
        ? null
        : { ...run.unstable, fields: run.unstable.fields.map(fieldJson) },
    accepted: run.accepted,
    alignment: alignmentJson(run.alignment),
    reproduce: run.reproduce,
    note: run.note,
  }));
}

function sideJson(side: SideInfo): object {
  return {
    spec: side.spec,
    name: side.name,
    version: side.version,
    revision: side.revision,
    dirty: side.dirty,
    format_version: side.formatVersion,
    digest: side.digest,
    fx: side.fx,
    config_hash: side.configHash,
    page_sizes: side.pageSizes,
    operation_kinds: side.operationKinds,
  };
}

function divergenceJson(divergence: Divergence, run: RunComparison): unknown {
  const { examination } = run;
  return {
    n: divergence.n,
    op: divergence.op,
    place: divergence.place,
    args: divergence.args,
    kind: divergence.kind,
    component: divergence.components[0]?.component ?? null,
    components: divergence.components,
    agreeing_components: divergence.agreeing,
    fields: divergence.fields.map(fieldJson),
    base: divergence.base,
    candidate: divergence.candidate,
    failure: divergence.failure,
    cause: divergence.cause,
    renaming: divergence.renaming,
    // null: not looked at; false: not before the end of what was
    recovers: examination === null ? recoveryOf(run.alignment) : (examination.recovers ?? false),
    holds: examination?.holds ?? null,
    looked_up_to: examination?.upTo ?? null,
    looked_whole: examination?.isWhole ?? null,
    differing: examination?.differing ?? null,
    origins: examination?.origins ?? [],
    states:
      examination?.states === undefined || examination.states === null
        ? null
        : { base: examination.states.base, fields: examination.states.fields.map(fieldJson) },
    before: divergence.before,
  };
}

/** A differing field; the side that has nothing there is null. @internal */
export function fieldJson(field: FieldDifference): unknown {
  const { path, base, candidate } = field;
  const absent = base === undefined ? "base" : candidate === undefined ? "candidate" : null;
  const sides = { path, base: base ?? null, candidate: candidate ?? null };
  return absent === null ? sides : { ...sides, absent };
}

/** The document of `record`; `partial` is the file of a failed one. @public */
export function recordJson(result: RecordResult, out: string, partial: string | null): unknown {
  return {
    command: "record",
    verdict:
      result.failure !== null
        ? "failed"
        : servedNothing(result.counters)
          ? "incomplete"
          : "recorded",
    out,
    partial, // where a failed recording stands; `out` is then untouched
    runs: result.runs,
    operations: result.operations,
    kept: result.kept,
    refusals: result.refusals,
    states: result.states,
    counters: result.counters,
    failure: result.failure,
  };
}

/** The document of `replay`. @public */
export function replayJson(result: ReplayResult): unknown {
  const isFound = result.violations.length > 0;
  return {
    command: "replay",
    verdict: isFound
      ? "failed"
      : result.error === null && !result.isPartial
        ? "passed"
        : "incomplete",
    runs: result.runs,
    operations: result.operations,
    refusals: result.refusals,
    passes: result.passes,
    violations: result.violations,
    latencies: result.latencies,
    error: errorOrNull(result.error),
  };
}

/** The document of `run`. @public */
export function runJson(result: RunResult): unknown {
  return {
    command: "run",
    verdict: result.verdict,
    scenarios: result.scenarios,
    operations: result.operations,
    counters: result.counters,
    left_out: result.leftOut,
    ...(result.coverage === undefined ? {} : { coverage: runCoverageJson(result.coverage) }),
  };
}

/** What `validate` found of one file. @public */
export interface FileVerdict {
  readonly file: string;
  readonly kind: "trace" | "scenario" | "configurations" | "unknown";

  readonly runs: number;
  readonly operations: number;
  readonly isPartial: boolean; // truncated or with unknown keys, and that was accepted
  readonly error: UnifiedTraceError | null;
}

/** The document of `validate`. @public */
export function validateJson(files: readonly FileVerdict[]): unknown {
  const isWrong = files.some(({ error }) => error !== null);
  const isPartial = files.some((file) => file.isPartial);
  return {
    command: "validate",
    verdict: isWrong ? "invalid" : isPartial ? "incomplete" : "valid",
    files: files.map(({ file, kind, runs, operations, isPartial: partial, error }) => ({
      file,
      kind,
      verdict: error !== null ? "invalid" : partial ? "incomplete" : "valid",
      runs,
      operations,
      error: errorOrNull(error),
    })),
    operations: files.reduce((total, { operations }) => total + operations, 0),
  };
}

/** The document of `stats --coverage`; `isShort`: below the floor, or not to be trusted. @public */
export function coverageJson(coverage: Coverage, isShort: boolean): unknown {
  return {
    command: "stats",
    verdict: isShort ? "short" : "counted",
    coverage: {
      files: coverage.files,
      runs: coverage.runs,
      operations: coverage.operations,
      percent: coveragePercent(coverage.tables),
      violations: coverage.violations,
      tables: coverageTablesJson(coverage.tables),
    },
    operations: coverage.operations,
  };
}

function memoryJson({
  tree,
  host,
  retractionsWithBackup,
  hostWaits,
  transfers,
}: MemoryStats): object {
  return {
    retractions_with_backup: retractionsWithBackup,
    host_waits: hostWaits,
    tree: {
      matches: tree.matches,
      hits: tree.hits,
      hit_tokens: tree.hitTokens,
      inserts: tree.inserts,
      evictions: tree.evictions,
      evicted_nodes: tree.evictedNodes,
      checkpoints: tree.checkpoints,
      checkpoint_stalls: tree.checkpointStalls,
    },
    host: {
      backups: host.backups,
      loads: host.loads,
      cancelled_loads: host.cancelledLoads,
      restores: host.restores,
      failed_copies: host.failedCopies,
      evictions: host.evictions,
    },
    transfers,
  };
}

/** The document of `stats`. @public */
export function statsJson(files: readonly TraceStats[]): unknown {
  return {
    command: "stats",
    verdict: files.some(({ truncated }) => truncated) ? "incomplete" : "counted",
    files: files.map((stats) => ({
      file: stats.file,
      runs: stats.runs,
      operations: stats.operations,
      marks: stats.marks,
      states: stats.states,
      operation_kinds: stats.operationKinds,
      refusals: stats.refusals,
      refused: stats.refused,
      steps: stats.steps,
      effects: stats.effects,
      moves: stats.moves,
      waits: stats.waits,
      retirements: stats.retirements,
      retractions: stats.retractions,
      ...memoryJson(stats.memory),
      heap: stats.heap === null ? null : heapStatsJson(stats.heap),
      operations_with_pending: stats.operationsWithPending,
      curves: stats.curves?.curves.map(curveJson) ?? null,
      curves_left_out: stats.curves?.leftOut ?? 0,
      truncated: stats.truncated,
    })),
    operations: files.reduce((total, { operations }) => total + operations, 0),
  };
}
