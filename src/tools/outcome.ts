// Results of the tools as data. Whoever prints them decides how they look; nothing here is text for a terminal.
import type { UnifiedTraceError } from "../base/errors.js";
import type { Answer, DigestDepth } from "../base/operations.js";
import type { Alignment } from "./align/alignment.js";
import type { AdapterFailure } from "../adapter/adapter.js";
import type { CoverageTable } from "./coverage-counts.js";
import type { CompareMode } from "./equality/modes.js";
import type { LatencyRow, SideTimes } from "./latencies.js";

/** How far a tool is; given to a callback now and then. @public */
export interface Progress {
  readonly runs: number; // finished
  readonly operations: number; // in all runs
  readonly run: string | null; // the one at hand
}
/** @public */
export type OnProgress = (progress: Progress) => void;

/** Verdict of a comparison, of one run or of all. @public */
export type CompareVerdict = "equal" | "agree" | "divergent" | "flaky" | "incomplete" | "invalid";

/** What kind of difference was met first. @public */
export type DivergenceKind =
  | "result"
  | "refusal"
  | "effect"
  | "state"
  | "invariant"
  | "crash"
  | "hang"
  | "protocol"
  | "missing operation"
  | "extra operation";

/** One side of a comparison. @public */
export interface SideInfo {
  readonly spec: string; // what the user named: a file, `self`, `checkout:…`
  readonly name: string;
  readonly version: string;
  readonly revision: string | null;
  readonly dirty: boolean | null;
  readonly formatVersion: number | null; // of a trace; null for an implementation
  readonly digest: DigestDepth | null; // depth compared or recorded, null: none
  readonly fx: boolean; // whether it tells its effects
  readonly configHash: string | null; // of the first run
  readonly pageSizes: readonly number[]; // of the runs looked at so far
  readonly operationKinds: number; // kinds it answers, or kinds in the trace's first batch
}

/** A difference of the two sides found before replay. @public */
export interface SideDifference {
  readonly what: string; // "revision", "configuration of run …", "digests", …
  readonly base: string;
  readonly candidate: string;
  readonly isLoss: boolean; // true: something is therefore not compared
}

/** One operation with what was answered. @public */
export interface AnsweredOperation {
  readonly n: number;
  readonly op: string;
  readonly args: unknown;
  readonly answer: Answer | null;
}

/** One differing place inside two answers. `undefined`: that side has nothing there. @public */
export interface FieldDifference {
  readonly path: string; // JSON pointer from the answer, such as `/ok/pages/r1/full`
  readonly base: unknown;
  readonly candidate: unknown;
}

/** A component whose digests differ after the operation. @public */
export interface ComponentDifference {
  readonly component: string;
  readonly base: string | null;
  readonly candidate: string | null;
}

/** Two ids of one space that cannot stand for each other. @public */
export interface BrokenRenaming {
  readonly space: string; // a band, `virtual`, `slots`, …
  readonly base: number;
  readonly candidate: number;
  readonly expected: number | null; // what stands for the base's id, null: the candidate's id is another one's
}

/** The first difference of a run. @public */
export interface Divergence {
  readonly n: number;
  readonly op: string;
  // "after": everything up to `n` was answered the same, and what differs shows later (a crash at the end of a run, a
  // full state, the digest at the end); "before": the run was refused before its first operation.
  readonly place: "at" | "after" | "before";
  readonly args: unknown;
  readonly kind: DivergenceKind;
  readonly base: Answer | null;
  readonly candidate: Answer | null;
  readonly fields: readonly FieldDifference[];
  readonly components: readonly ComponentDifference[]; // in the order of the digest
  readonly agreeing: readonly string[]; // components whose digests are the same; empty without digests or answer
  readonly failure: AdapterFailure | null; // crash, hang, protocol, invariant
  readonly cause: { readonly n: number; readonly op: string } | null; // null where no digests tell
  readonly renaming: BrokenRenaming | null; // in mode `renamed`, where ids are at fault
  readonly before: readonly AnsweredOperation[]; // the last operations that agreed, oldest first
}

/** The last operation before a divergence that named an id in which the two answers differ. @public */
export interface Origin {
  readonly side: "base" | "candidate"; // whose answer has the id
  readonly space: string; // a band, `virtual`, `slots`, …
  readonly id: number;
  readonly n: number;
  readonly op: string;
  readonly use: "given" | "returned" | "moved here" | "moved away"; // what that operation did with it
}

/** What a second look at a divergent run found. @public */
export interface Examination {
  readonly upTo: number; // the last operation that was looked at
  readonly isWhole: boolean; // false: operations behind it were not
  readonly holds: readonly CompareMode[]; // weaker modes that hold up to there
  readonly differing: number; // operations whose answers differ, the first among them
  readonly recovers: number | null; // from here on everything looked at agrees again; null: it does not
  readonly origins: readonly Origin[];
  readonly states: StateComparison | null; // null where one of the sides has none
  readonly unstable: Unstable | null; // the candidate did not do the same again
}

/** The full states of both sides right after the operation at which they part. @public */
export interface StateComparison {
  readonly base: string; // where the base's state is from: `trace`, or an implementation that answers as the trace does
  readonly fields: readonly FieldDifference[];
}

/** Where an implementation disagrees with itself. @public */
export interface Unstable {
  readonly n: number;
  readonly op: string;
  readonly fields: readonly FieldDifference[]; // first and second answer; empty: only digests differ
}

/** A divergence that is known and accepted. @public */
export interface AcceptedDivergence {
  readonly kind: string;
  readonly op: string;
  readonly component: string | null;
  readonly reason: string;
}

/** Who answers what at the earliest operation of a run at which any two sides differ. @public */
export interface Vote {
  readonly run: string;
  readonly n: number;
  readonly op: string;
  readonly groups: readonly (readonly string[])[]; // sides with one answer; `base` is the trace
  readonly majority: readonly string[] | null; // the one largest group, null: there is none
}

/** One run of a comparison. @public */
export interface RunComparison {
  readonly run: string;
  readonly verdict: CompareVerdict;
  readonly agreed: number; // operations that agreed
  readonly operations: number; // operations of the run that were read
  readonly skipped: number; // dropped on request because the candidate does not answer them
  readonly agreedRefusals: number;
  readonly divergence: Divergence | null;
  readonly examination: Examination | null; // null: nothing to examine, or it could not be read again
  readonly unstable: Unstable | null; // where the candidate disagrees with itself
  readonly accepted: string | null; // why the divergence is accepted
  readonly reproduce: string | null; // one command
  readonly note: string | null; // why it is incomplete or invalid
  /** Two recorded runs past their first difference; null where they have none, or where operations are not aligned. */
  readonly alignment: Alignment | null;
}

/** @public */
export interface CompareResult {
  readonly verdict: CompareVerdict;
  readonly mode: CompareMode;
  readonly base: SideInfo | null; // null when the trace could not be read at all
  readonly candidate: SideInfo | null;
  readonly differences: readonly SideDifference[];
  readonly runs: readonly RunComparison[];
  readonly first: { readonly run: string; readonly n: number } | null; // smallest n over all runs
  readonly operations: number; // really compared
  readonly skipped: number;
  readonly hidden: number; // differing fields that masks hid
  readonly leftOut: number; // runs that belong to other shards, or that the time did not suffice for
  readonly gone: readonly AcceptedDivergence[]; // accepted, and not met any more
  readonly unread: boolean; // stopped before the end of the input on request
  readonly error: UnifiedTraceError | null; // what ended the comparison early
  readonly times?: SideTimes | null; // of both sides, where they were asked for
}

/** What `record` did. @public */
export interface RecordResult {
  readonly runs: number;
  readonly operations: number; // asked
  readonly kept: number; // of them written
  readonly refusals: number;
  readonly states: number;
  readonly failure: {
    readonly run: string;
    readonly n: number;
    readonly place: "at" | "after"; // after: operation `n` was the last and was answered
    readonly failure: AdapterFailure;
  } | null;
  readonly counters: Readonly<Record<string, number>>; // summed over workloads
}

/** A broken promise met while replaying or running. @public */
export interface Violation {
  readonly run: string;
  readonly n: number;
  readonly op: string;
  readonly args: unknown;
  readonly failure: AdapterFailure;
}

/** @public */
export interface ReplayResult {
  readonly runs: number;
  readonly operations: number;
  readonly refusals: number;
  readonly violations: readonly Violation[]; // one a run at most
  readonly isPartial: boolean; // truncated input or unknown keys were accepted
  readonly passes: number; // times that the trace was replayed; runs and operations are those of one pass
  readonly latencies: readonly LatencyRow[] | null; // of all passes; null: not measured
  readonly error: UnifiedTraceError | null;
}

/** @public */
export type RunVerdict = "passed" | "failed" | "invalid" | "incomplete";

/** One scenario on one configuration. @public */
export interface ScenarioResult {
  readonly name: string;
  readonly config: string | null;
  readonly file: string | null;
  readonly verdict: RunVerdict;
  readonly n: number | null; // the operation at fault
  readonly op: string | null;
  readonly message: string | null;
  readonly operations: number;
}

/** @public */
export interface RunResult {
  readonly verdict: RunVerdict | "short"; // short: all passed, and less was exercised than asked
  readonly scenarios: readonly ScenarioResult[];
  readonly operations: number;
  readonly counters: Readonly<Record<string, number>>;
  readonly leftOut: number; // runs of other shards, or that the time did not suffice for
  /** What the runs together exercise, where that was asked. An implementation that does not tell what it reaches inside
   * lacks the last two tables. */
  readonly coverage?: {
    readonly percent: number; // of all items, rounded down
    readonly floor: number | null; // percent that was asked
    readonly tables: readonly CoverageTable[];
  };
}
