// The runs of a trace, and operations of one of them, as they stand in the file: nothing is replayed.
import type { UnifiedTraceError } from "../../base/errors.js";
import { InputError, UsageError } from "../../base/errors.js";
import type { Domain } from "../../base/operations.js";
import type { OpLine, RunLine, TraceLine } from "../../trace/lines.js";
import type { ReaderOptions } from "../../trace/reader.js";
import { noSuchRun } from "../compare-results.js";
import { Pulse } from "../pulse.js";
import type { ToolControl } from "../pulse.js";
import { openLines } from "./open-lines.js";

const BATCH_LINES = 256;
const RUNS_MAX = 1000; // told of

/** @public */
export interface ListOptions extends ToolControl {
  readonly trace: string;
  readonly run?: string; // operations of this one; default: of the only one
  readonly from?: number;
  readonly to?: number; // last operation
  readonly most: number; // operations listed
  readonly reader?: ReaderOptions;
}

/** @public */
export interface ListedRun {
  readonly run: string;
  readonly domain: Domain;
  readonly first: number; // operation
  readonly operations: number;
  readonly refusals: number;
  readonly states: number; // `state` lines
}

/** @public */
export interface Listing {
  readonly runs: readonly ListedRun[]; // the first 1,000, or the chosen one
  readonly runCount: number;
  /** Operations of the run that is chosen or alone; null where several are there to choose from. */
  readonly lines: readonly OpLine[] | null;
  readonly omitted: number; // operations of the asked range behind them
  readonly operations: number; // read in all
  readonly isPartial: boolean;
  readonly error: UnifiedTraceError | null; // what ended the reading
}

/** Throws `UsageError` for a run that is not there or a range without an operation. @public */
export async function listOperations(options: ListOptions): Promise<Listing> {
  const reader = await openLines(options.trace, options.reader ?? {});
  const list = new List(options);
  const pulse = new Pulse(options);
  try {
    const error = await pulse.endOf(async () => {
      for (;;) {
        const { lines } = await reader.readBatch(BATCH_LINES);
        if (lines.length === 0) return;
        for (const line of lines) {
          list.take(line);
          if (list.isOver) return;
        }
        if (pulse.count(lines.length)) await pulse.breathe();
      }
    });
    return list.result(reader.truncated !== null || reader.ignoredKeys > 0, error);
  } finally {
    await reader.close();
  }
}

interface Counted {
  readonly line: RunLine;
  operations: number;
  refusals: number;
  states: number;
}

class List {
  readonly #options: ListOptions;
  readonly #runs: Counted[] = [];
  readonly #seen: string[] = [];
  #runCount = 0;
  #current: Counted | null = null;
  #lines: OpLine[] = [];
  #inRange = 0;
  #operations = 0;
  isOver = false;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  take(line: TraceLine): void {
    if (line.kind === "run") this.#run(line);
    const current = this.#current;
    if (current === null) return;
    if (line.kind === "op") this.#operation(line, current);
    else if (line.kind === "state") current.states += 1;
    else if (line.kind === "end") this.isOver = this.#options.run !== undefined;
  }

  #run(line: RunLine): void {
    const { run } = this.#options;
    if (this.#current !== null && run !== undefined) {
      this.isOver = true; // the chosen run has no end
      this.#current = null;
      return;
    }
    if (this.#seen.length < RUNS_MAX) this.#seen.push(line.run);
    this.#runCount += 1;
    this.#current = null;
    if (run !== undefined && run !== line.run) return;
    this.#current = { line, operations: 0, refusals: 0, states: 0 };
    if (this.#runs.length < RUNS_MAX) this.#runs.push(this.#current);
    if (this.#runCount > 1 && run === undefined) this.#lines = []; // nobody asked for this one's
  }

  #operation(line: OpLine, current: Counted): void {
    this.#operations += 1;
    current.operations += 1;
    if (line.err !== undefined) current.refusals += 1;
    const { run, from = 0, to = Infinity, most } = this.#options;
    if (run === undefined && this.#runCount > 1) return;
    if (line.n < from || line.n > to) return;
    this.#inRange += 1;
    if (this.#lines.length < most) this.#lines.push(line);
  }

  result(isPartial: boolean, error: UnifiedTraceError | null): Listing {
    const { run, trace, from, to } = this.#options;
    const chosen = this.#runs[0];
    if (chosen === undefined && run !== undefined) throw noSuchRun(run, trace, this.#seen);
    if (chosen === undefined) {
      const message = "holds no run, so there is nothing to show";
      throw new InputError("trace_structure", message, { file: trace });
    }
    const isOne = run !== undefined || this.#runCount === 1;
    if ((from !== undefined || to !== undefined) && (!isOne || this.#inRange === 0))
      throw emptyRange(this.#options, chosen, isOne);
    return {
      runs: this.#runs.map(({ line, operations, refusals, states }) => ({
        run: line.run,
        domain: line.domain,
        first: line.starts_at ?? 0,
        ...{ operations, refusals, states },
      })),
      runCount: this.#runCount,
      lines: isOne ? this.#lines : null,
      omitted: isOne ? this.#inRange - this.#lines.length : 0,
      operations: this.#operations,
      isPartial,
      error,
    };
  }
}

function emptyRange({ from, to }: ListOptions, chosen: Counted, isOne: boolean): UsageError {
  const asked = [
    ...(from === undefined ? [] : [`--from ${String(from)}`]),
    ...(to === undefined ? [] : [`--to ${String(to)}`]),
  ].join(" ");
  if (!isOne) return new UsageError(`${asked}: of which run? --run ID says it`);
  const first = chosen.line.starts_at ?? 0;
  const held = `operations ${String(first)} to ${String(first + chosen.operations - 1)}`;
  return new UsageError(`${asked}: run ${chosen.line.run} holds ${held}`, held);
}
