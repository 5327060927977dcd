// The first operation of a run after which two implementations are in different states, though their answers may agree
// until much later: the run is replayed on both as far as a prefix, by halves.
import type { Adapter, AdapterFailure } from "../../adapter/adapter.js";
import { CandidateError, UsageError } from "../../base/errors.js";
import type { Answer, DigestDepth } from "../../base/operations.js";
import type { State } from "../../base/state.js";
import { equalAnswers } from "../../trace/compare-values.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { Candidate, givesDepth } from "../candidate.js";
import type { StartAdapter } from "../candidate.js";
import type { FieldDifference } from "../outcome.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { stateDifferences } from "../state-differences.js";
import { runsOf } from "../trace-runs.js";
import type { TraceRun } from "../trace-runs.js";
import type { OperationBisection, TestedPoint } from "./outcome.js";
import { searchLine } from "./search.js";

const DEPTH: DigestDepth = "layout";

/** @public */
export interface BisectStatesOptions extends ToolControl {
  readonly trace: string;
  readonly base: StartAdapter;
  readonly candidate: StartAdapter;
  readonly run?: string;
  readonly reader?: ReaderOptions;
  readonly isTimeOver?: () => boolean;
  readonly onTested?: (tested: TestedPoint) => void;
}

/**
 * Looks at the first run at whose end the two differ, or at the one that is named. Throws `UsageError` where none does,
 * `CandidateError` where one of them shows neither states nor digests. @public
 */
export async function bisectStates(options: BisectStatesOptions): Promise<OperationBisection> {
  const search = new StateSearch(options);
  try {
    for await (const run of runsOf(options.trace, options.run ?? null, options.reader ?? {})) {
      const found = await search.searchRun(run);
      if (found !== null) return found;
    }
  } finally {
    await search.dispose();
  }
  throw new UsageError(
    "the two implementations are in the same state at the end of every run: nothing to find by halves; compare --trace finds what differs in between",
  );
}

/** One implementation after a prefix. */
interface Side {
  readonly answers: readonly Answer[];
  readonly failure: AdapterFailure | null;
  readonly state: State | null;
  readonly digest: string | null;
}

interface Difference {
  readonly by: "state" | "digest";
  readonly fields: readonly FieldDifference[];
  readonly failure: AdapterFailure | null;
}

class StateSearch {
  readonly #options: BisectStatesOptions;
  readonly #base: Candidate;
  readonly #candidate: Candidate;
  readonly #pulse: Pulse;

  constructor(options: BisectStatesOptions) {
    this.#options = options;
    this.#base = new Candidate(options.base);
    this.#candidate = new Candidate(options.candidate);
    this.#pulse = new Pulse(options);
  }

  async dispose(): Promise<void> {
    await this.#base.dispose();
    await this.#candidate.dispose();
  }

  /** Null where the two are in the same state at the end of the run. */
  async searchRun(run: TraceRun): Promise<OperationBisection | null> {
    this.#pulse.run = run.line.run;
    const tested: TestedPoint[] = [];
    const differences = new Map<number, Difference>();
    const test = async (length: number): Promise<"good" | "bad"> => {
      const { difference } = await this.#compare(run, length);
      if (difference !== null) differences.set(length, difference);
      const outcome = difference === null ? "equal" : "different";
      tested.push({ value: length, outcome });
      this.#options.onTested?.({ value: length, outcome });
      return difference === null ? "good" : "bad";
    };
    const whole = await this.#compare(run, run.ops.length);
    if (whole.difference === null) return null;
    differences.set(run.ops.length, whole.difference);
    tested.push({ value: run.ops.length, outcome: "different" });
    const { isTimeOver } = this.#options;
    const end = await searchLine({
      good: 0, // nothing was done yet
      bad: run.ops.length,
      test,
      ...(isTimeOver === undefined ? {} : { isTimeOver }),
    });
    const n = end.bad - 1;
    const { op, args } = run.ops[n]!; // it was replayed
    const { by, fields, failure } = differences.get(end.bad)!; // it was found to differ
    return {
      over: "operations",
      verdict: end.isOver ? "found" : "incomplete",
      ...{ by, run: run.line.run, n, op, args },
      agreed: end.good,
      fields,
      failure: failure === null ? null : `${failure.kind}: ${failure.message}`,
      answers: whole.answers,
      tested,
      runs: this.#pulse.runs,
      operations: this.#pulse.operations,
    };
  }

  async #compare(
    run: TraceRun,
    length: number,
  ): Promise<{
    readonly difference: Difference | null;
    readonly answers: { readonly n: number; readonly op: string } | null;
  }> {
    const base = await this.#replay(this.#base, run, length);
    if (base.failure !== null) {
      const { kind, message } = base.failure;
      throw new CandidateError("candidate_start", `the base breaks (${kind}): ${message}`);
    }
    const candidate = await this.#replay(this.#candidate, run, length);
    return {
      difference: differenceOf(base, candidate),
      answers: firstAnswer(run, base, candidate),
    };
  }

  async #replay(candidate: Candidate, run: TraceRun, length: number): Promise<Side> {
    const adapter = await candidate.ready();
    const { run: name, domain, config } = run.line;
    const digestDepth = givesDepth(adapter.info.digest, DEPTH) ? DEPTH : null;
    await candidate.open({ run: name, domain, config, digestDepth });
    const ops = run.ops.slice(0, length);
    refuseMissing(adapter, ops);
    this.#pulse.runs += 1;
    const { answers, failure } = await adapter.apply(ops);
    this.#pulse.throwIfInterrupted();
    if (this.#pulse.count(answers.length)) await this.#pulse.breathe();
    if (failure !== null) {
      await candidate.dispose();
      return { answers, failure, state: null, digest: null };
    }
    const state = await adapter.state();
    const closed = await candidate.close();
    this.#pulse.throwIfInterrupted();
    return { answers, state, ...closed };
  }
}

function differenceOf(base: Side, candidate: Side): Difference | null {
  const { failure } = candidate;
  if (failure !== null) return { by: "state", fields: [], failure };
  if (base.state !== null && candidate.state !== null) {
    const fields = stateDifferences(base.state, candidate.state);
    return fields.length === 0 ? null : { by: "state", fields, failure };
  }
  if (base.digest === null || candidate.digest === null) {
    const which = base.digest === null ? "the base" : "the candidate";
    throw new CandidateError(
      "candidate_handshake",
      `${which} shows neither its state nor a digest of depth ${DEPTH}; --check COMMAND judges without them`,
    );
  }
  return base.digest === candidate.digest ? null : { by: "digest", fields: [], failure };
}

function firstAnswer(
  run: TraceRun,
  base: Side,
  candidate: Side,
): { readonly n: number; readonly op: string } | null {
  for (const [n, answer] of base.answers.entries()) {
    const op = run.ops[n]!.op; // as many answers as operations
    const other = candidate.answers[n];
    const isSame =
      other !== undefined && equalAnswers(op, answer, other, { fx: false, digest: false });
    if (!isSame) return { n, op };
  }
  return null;
}

function refuseMissing(adapter: Adapter, ops: TraceRun["ops"]): void {
  const known = new Set(adapter.info.ops);
  const missing = [...new Set(ops.map(({ op }) => op))].filter((op) => !known.has(op)).sort();
  if (missing.length === 0) return;
  const what = `${adapter.info.name} does not answer ${missing.join(", ")}`;
  throw new CandidateError("candidate_handshake", what);
}
