// Saved JSON documents back to what the tools found, so that a report can be printed later in any form. Documents of older
// versions lack some keys; unknown ones are passed over.
import { InputError, UnifiedTraceError } from "../base/errors.js";
import type { ErrorCode } from "../base/errors.js";
import type { AlignedBlock } from "../tools/align/alignment.js";
import type {
  CompareResult,
  Divergence,
  FieldDifference,
  RunComparison,
  RunResult,
  ScenarioResult,
  SideInfo,
  Unstable,
} from "../tools/outcome.js";
import type { AnySpec } from "../trace/fields.js";
import { inspect, inspectContext } from "../trace/inspect.js";
import { COMPARE_REPORT, ERROR_REPORT, RUN_REPORT } from "../trace/report-specs.js";
import type { JsonFile } from "../workload/json-file.js";
import { coverageTablesFromJson } from "./coverage-json.js";
import type { RunCoverageDocument } from "./coverage-json.js";

// Commands whose documents can be printed again.
const REPRINTED: ReadonlySet<string> = new Set(["compare", "run", "stress"]);

/** A saved comparison. @public */
export interface SavedComparison {
  readonly results: readonly CompareResult[];
  readonly trace: string | null; // hash of the base with its kind
}

/**
 * The document of `compare --json`. Throws `InputError` that names file, line, path and what was expected; the error
 * itself where the document is that of a command that failed. @public
 */
export function comparisonFromJson(source: JsonFile): SavedComparison {
  const document = checked<CompareDocument>(source, "compare", COMPARE_REPORT);
  const trace = document.base?.trace ?? null;
  if (document.comparisons === undefined) return { results: [onlyResult(document)], trace };
  const runs = document.runs.map(runOf);
  const differences = document.differences.map(differenceOf);
  const results: CompareResult[] = [];
  for (const [index, part] of document.comparisons.entries()) {
    if (part.runs > runs.length || part.differences > differences.length) {
      const path = `/comparisons/${index}`;
      throw wrong(source, path, "tells of more runs or differences than the document has");
    }
    results.push({
      verdict: part.verdict,
      mode: document.mode,
      base: part.base === null ? null : sideOf(part.base),
      candidate: part.candidate === null ? null : sideOf(part.candidate),
      differences: differences.splice(0, part.differences),
      runs: runs.splice(0, part.runs),
      first: part.first,
      operations: part.operations,
      skipped: part.skipped,
      hidden: part.hidden,
      leftOut: part.left_out ?? 0,
      gone: part.gone,
      unread: part.unread,
      error: errorOf(part.error),
      ...timesOf(document, index),
    });
  }
  return { results, trace };
}

/** The document of `run --json`. Throws as `comparisonFromJson` does. @public */
export function runFromJson(source: JsonFile): RunResult {
  const {
    verdict,
    scenarios,
    operations,
    counters,
    left_out: leftOut = 0,
    coverage,
  } = checked<RunDocument>(source, "run", RUN_REPORT);
  return {
    verdict,
    scenarios: scenarios.map((one: ScenarioResult): ScenarioResult => ({
      name: one.name,
      config: one.config,
      file: one.file,
      verdict: one.verdict,
      n: one.n ?? null,
      op: one.op,
      message: one.message ?? null,
      operations: one.operations,
    })),
    operations,
    counters,
    leftOut,
    ...(coverage === undefined
      ? {}
      : { coverage: { ...coverage, tables: coverageTablesFromJson(coverage.tables) } }),
  };
}

/** The value of the file as the type of the spec's documents. Throws as `comparisonFromJson` does. @internal */
export function checked<T>(source: JsonFile, command: string, spec: AnySpec): T {
  const { value } = source;
  if (inspect(ERROR_REPORT, value, inspectContext()) === null) {
    // it was just found to have the shape
    throw errorOf((value as { readonly error: ErrorDocument }).error);
  }
  const made = (value as { readonly command?: unknown } | null)?.command;
  if (typeof made === "string" && made !== command) {
    const hint = REPRINTED.has(made) ? `: ${made} --report prints it` : "";
    throw wrong(source, "/command", `is the report of ${made}${hint}`, `a report of ${command}`);
  }
  const problem = inspect(spec, value, inspectContext());
  if (problem !== null) {
    const { path, message, expected } = problem;
    const where = path === "" ? "" : `${path}: `;
    throw wrong(source, path, `is no report of ${command}: ${where}${message}`, expected);
  }
  return value as T; // T states in types what the spec states
}

function wrong(source: JsonFile, path: string, message: string, expected?: string): InputError {
  return new InputError("input_format", message, {
    file: source.file,
    ...source.placeOf(path),
    path,
    ...(expected === undefined ? {} : { expected }),
  });
}

interface RunDocument extends Omit<RunResult, "leftOut" | "coverage"> {
  readonly left_out?: number;
  readonly coverage?: RunCoverageDocument;
}

interface SideDocument extends Pick<
  SideInfo,
  "spec" | "name" | "version" | "revision" | "dirty" | "digest" | "fx"
> {
  readonly format_version: number | null;
  readonly config_hash: string | null;
  readonly page_sizes: readonly number[];
  readonly operation_kinds: number;
  readonly trace?: string | null;
}

interface FieldDocument extends FieldDifference {
  readonly absent?: "base" | "candidate";
}

type UnstableDocument = Omit<Unstable, "fields"> & { readonly fields: readonly FieldDocument[] };

interface DivergenceDocument extends Omit<Divergence, "fields" | "agreeing"> {
  readonly agreeing_components: readonly string[];
  readonly fields: readonly FieldDocument[];
  readonly recovers: number | boolean | null;
  readonly holds: NonNullable<RunComparison["examination"]>["holds"] | null;
  readonly looked_up_to?: number | null;
  readonly looked_whole?: boolean | null;
  readonly differing?: number | null;
  readonly origins?: NonNullable<RunComparison["examination"]>["origins"];
  readonly states?: { readonly base: string; readonly fields: readonly FieldDocument[] } | null;
}

interface AlignmentDocument extends Omit<NonNullable<RunComparison["alignment"]>, "isWhole"> {
  readonly whole: boolean;
}

interface ComparedRunDocument extends Pick<
  RunComparison,
  "run" | "verdict" | "agreed" | "operations" | "skipped" | "note"
> {
  readonly agreed_refusals: number;
  readonly divergence?: DivergenceDocument | null;
  readonly alignment: AlignmentDocument | null;
  readonly reproduce?: string | null;
  readonly unstable?: UnstableDocument | null;
  readonly accepted?: string | null;
}

interface ErrorDocument {
  readonly code: ErrorCode;
  readonly message: string;
  readonly file?: string | null;
  readonly line?: number | null;
  readonly column?: number | null;
  readonly path?: string | null;
  readonly expected?: string | null;
}

type Totals = Pick<
  CompareResult,
  "verdict" | "first" | "operations" | "skipped" | "unread" | "hidden"
> & { readonly left_out?: number; readonly error: ErrorDocument | null };

interface PartDocument extends Totals {
  readonly base: SideDocument | null;
  readonly candidate: SideDocument | null;
  readonly differences: number;
  readonly runs: number;
  readonly gone: CompareResult["gone"];
}

interface DifferenceDocument {
  readonly what: string;
  readonly base: string;
  readonly candidate: string;
  readonly loss: boolean;
}

interface CompareDocument extends Totals {
  readonly mode: CompareResult["mode"];
  readonly base: SideDocument | null;
  readonly candidates: readonly SideDocument[];
  readonly differences: readonly DifferenceDocument[];
  readonly runs: readonly ComparedRunDocument[];
  readonly gone?: CompareResult["gone"];
  readonly comparisons?: readonly PartDocument[];
  readonly times?: readonly CompareResult["times"][];
}

function onlyResult(document: CompareDocument): CompareResult {
  const [candidate] = document.candidates;
  return {
    verdict: document.verdict,
    mode: document.mode,
    base: document.base === null ? null : sideOf(document.base),
    candidate: candidate === undefined ? null : sideOf(candidate),
    differences: document.differences.map(differenceOf),
    runs: document.runs.map(runOf),
    first: document.first,
    operations: document.operations,
    skipped: document.skipped,
    hidden: document.hidden,
    leftOut: document.left_out ?? 0,
    gone: document.gone ?? [],
    unread: document.unread,
    error: errorOf(document.error),
    ...timesOf(document, 0),
  };
}

function timesOf({ times }: CompareDocument, index: number): Pick<CompareResult, "times"> {
  return times === undefined ? {} : { times: times[index] ?? null };
}

function differenceOf({
  what,
  base,
  candidate,
  loss,
}: DifferenceDocument): CompareResult["differences"][number] {
  return { what, base, candidate, isLoss: loss };
}

function sideOf(side: SideDocument): SideInfo {
  return {
    spec: side.spec,
    name: side.name,
    version: side.version,
    revision: side.revision,
    dirty: side.dirty,
    formatVersion: side.format_version,
    digest: side.digest,
    fx: side.fx,
    configHash: side.config_hash,
    pageSizes: side.page_sizes,
    operationKinds: side.operation_kinds,
  };
}

function runOf(run: ComparedRunDocument): RunComparison {
  const divergence = run.divergence ?? null;
  const unstable = run.unstable ?? null;
  return {
    run: run.run,
    verdict: run.verdict,
    agreed: run.agreed,
    operations: run.operations,
    skipped: run.skipped,
    agreedRefusals: run.agreed_refusals,
    divergence: divergence === null ? null : divergenceOf(divergence),
    examination: divergence === null ? null : examinationOf(divergence),
    unstable: unstable === null ? null : { ...unstable, fields: unstable.fields.map(fieldOf) },
    accepted: run.accepted ?? null,
    reproduce: run.reproduce ?? null,
    note: run.note,
    alignment: run.alignment === null ? null : alignmentOf(run.alignment),
  };
}

function divergenceOf(document: DivergenceDocument): Divergence {
  return {
    n: document.n,
    op: document.op,
    place: document.place,
    args: document.args,
    kind: document.kind,
    base: document.base,
    candidate: document.candidate,
    fields: document.fields.map(fieldOf),
    components: document.components,
    agreeing: document.agreeing_components,
    failure: document.failure,
    cause: document.cause,
    renaming: document.renaming ?? null,
    before: document.before,
  };
}

function examinationOf(document: DivergenceDocument): RunComparison["examination"] {
  const { holds, recovers, states } = document;
  if (holds === null) return null;
  return {
    upTo: document.looked_up_to ?? document.n,
    isWhole: document.looked_whole ?? true,
    holds,
    differing: document.differing ?? 1,
    recovers: typeof recovers === "number" ? recovers : null,
    origins: document.origins ?? [],
    states:
      states === undefined || states === null
        ? null
        : { base: states.base, fields: states.fields.map(fieldOf) },
    unstable: null, // an unstable run has no divergence
  };
}

function alignmentOf({
  whole,
  blocks,
  agreed,
  read,
  recovers,
}: AlignmentDocument): NonNullable<RunComparison["alignment"]> {
  const copied = blocks.map((block): AlignedBlock => ({ ...block }));
  return { blocks: copied, agreed, read, recovers, isWhole: whole };
}

// A side that has nothing there is null in JSON, and `absent` names it.
function fieldOf({ path, base, candidate, absent }: FieldDocument): FieldDifference {
  return {
    path,
    base: absent === "base" ? undefined : base,
    candidate: absent === "candidate" ? undefined : candidate,
  };
}

function errorOf(document: ErrorDocument): UnifiedTraceError;
function errorOf(document: ErrorDocument | null): UnifiedTraceError | null;
function errorOf(document: ErrorDocument | null): UnifiedTraceError | null {
  if (document === null) return null;
  const { code, message, file, line, column, path, expected } = document;
  return new UnifiedTraceError(code, message, {
    ...(typeof file === "string" ? { file } : {}),
    ...(typeof line === "number" ? { line } : {}),
    ...(typeof column === "number" ? { column } : {}),
    ...(typeof path === "string" ? { path } : {}),
    ...(typeof expected === "string" ? { expected } : {}),
  });
}
