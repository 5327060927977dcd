// Gathers the runs of a comparison into its verdict.
import { InputError, UsageError } from "../base/errors.js";
import type { UnifiedTraceError } from "../base/errors.js";
import { nearestWord } from "../base/nearest.js";
import type { Truncation } from "../trace/reader.js";
import type { RunComparer } from "./compare-run.js";
import type { CompareMode } from "./equality/modes.js";
import type { MaskSet } from "./masks.js";
import type {
  CompareResult,
  CompareVerdict,
  Examination,
  RunComparison,
  SideDifference,
  SideInfo,
} from "./outcome.js";

const RUN_NAMES_MAX = 1000; // remembered for the nearest word

/** @internal */
export interface SelectionChoices {
  readonly run?: string;
  readonly mode?: CompareMode;
  readonly masks?: MaskSet;
  readonly reproduce?: (run: string, n: number) => string | null;
}

/** The runs compared so far and what went wrong around them. @internal */
export class ResultList {
  readonly #choices: SelectionChoices;
  #runs: RunComparison[] = [];
  readonly #seen: string[] = [];
  #error: UnifiedTraceError | null = null;
  #isLenient = false;
  #isMismatched = false;

  constructor(choices: SelectionChoices) {
    this.#choices = choices;
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  leftOut = 0; // runs that were not begun

  get runs(): readonly RunComparison[] {
    return this.#runs;
  }

  get isDivergent(): boolean {
    return this.#runs.some(({ divergence }) => divergence !== null);
  }

  /** Takes in what a second look found. A candidate that disagrees with itself is no divergence of the other side. */
  examined(found: ReadonlyMap<string, Examination>): void {
    this.#runs = this.#runs.map((run) => {
      const examination = found.get(run.run) ?? null;
      if (examination === null) return run;
      const { unstable } = examination;
      if (unstable === null) return { ...run, examination };
      return { ...run, verdict: "flaky", divergence: null, unstable, examination };
    });
  }

  /** Takes note of a run of the trace, chosen or not. */
  saw(run: string): void {
    if (this.#seen.length < RUN_NAMES_MAX) this.#seen.push(run);
  }

  add(comparer: RunComparer): void {
    if (comparer.operations === 0 && !comparer.isOver) {
      comparer.invalid = "the run holds no operation";
    }
    this.push(comparer.result((n) => this.#choices.reproduce?.(comparer.run, n) ?? null));
  }

  push(run: RunComparison): void {
    this.#runs.push(run);
  }

  /** An error ended the comparison; the run at hand is kept as far as it got. */
  fail(error: UnifiedTraceError, comparer: RunComparer | null): void {
    this.#error = error;
    if (comparer === null) return;
    comparer.incomplete ??= "an error ended the comparison here";
    this.add(comparer);
  }

  /** The trace stopped early and that was accepted. */
  truncate(truncation: Truncation, comparer: RunComparer | null): void {
    this.#isLenient = true;
    if (comparer === null) return;
    const after = truncation.operation === null ? "" : ` after operation ${truncation.operation}`;
    comparer.incomplete ??= `the trace is truncated${after}`;
    this.add(comparer);
  }

  /** Unknown keys were dropped on request. */
  lenient(): void {
    this.#isLenient = true;
  }

  /** The sides differ in something that makes an equal verdict worthless. */
  mismatch(): void {
    this.#isMismatched = true;
  }

  /** Throws when nothing was compared. */
  checkSelection(trace: string): void {
    if (!this.isEmpty || this.#error !== null) return;
    if (this.leftOut > 0) {
      throw new UsageError(
        "no run is left to compare: the shard has none, or the time was over before the first",
      );
    }
    const { run } = this.#choices;
    if (run === undefined) {
      throw new InputError("trace_structure", "holds no runs, so nothing was compared", {
        file: trace,
        expected: "at least one run",
      });
    }
    throw noSuchRun(run, trace, this.#seen);
  }

  finish(sides: {
    readonly base: SideInfo | null;
    readonly candidate: SideInfo | null;
    readonly differences: readonly SideDifference[];
    readonly isUnread: boolean;
  }): CompareResult {
    const runs = this.#runs;
    return {
      verdict: this.#verdict(),
      mode: this.#choices.mode ?? "exact",
      base: sides.base,
      candidate: sides.candidate,
      differences: sides.differences,
      runs,
      first: earliest(runs),
      operations: sum(
        runs,
        ({ agreed, divergence }) => agreed + (divergence?.place === "at" ? 1 : 0),
      ),
      skipped: sum(runs, ({ skipped }) => skipped),
      hidden: this.#choices.masks?.hidden ?? 0,
      gone: [],
      leftOut: this.leftOut,
      unread: sides.isUnread,
      error: this.#error,
    };
  }

  #verdict(): CompareVerdict {
    const has = (verdict: CompareVerdict): boolean =>
      this.#runs.some((run) => run.verdict === verdict);
    if (has("divergent")) return "divergent";
    if (has("flaky")) return "flaky";
    if (has("invalid") || this.#isMismatched) return "invalid";
    if (this.#error?.exitCode === 3) return "invalid";
    const isPartial = this.#isLenient || this.leftOut > 0 || this.#error !== null;
    if (has("incomplete") || isPartial) return "incomplete";
    return has("agree") ? "agree" : "equal";
  }
}

/** The error for a run that the trace does not hold. @internal */
export function noSuchRun(run: string, trace: string, known: readonly string[]): UsageError {
  const nearest = nearestWord(run, known);
  const meant = nearest === null ? "" : `; did you mean ${nearest}?`;
  return new UsageError(`--run ${run}: ${trace} holds no such run${meant}`);
}

function earliest(runs: readonly RunComparison[]): { run: string; n: number } | null {
  let first: { run: string; n: number } | null = null;
  for (const { run, divergence } of runs) {
    if (divergence !== null && (first === null || divergence.n < first.n)) {
      first = { run, n: divergence.n };
    }
  }
  return first;
}

function sum(runs: readonly RunComparison[], of: (run: RunComparison) => number): number {
  let total = 0;
  for (const run of runs) total += of(run);
  return total;
}
