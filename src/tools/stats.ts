// Counts what happened in a trace: operations, refusals, rearrangement steps, moves, retirements, retractions, waits,
// pending pages, and what stats-memory adds, from the lines alone; and curves of the memory along the operations.
import type { Effect } from "../base/effects.js";
import { countOf } from "../base/extents.js";
import type { Extents } from "../base/operations.js";
import { InputError } from "../base/errors.js";
import type { OpLine, RunLine, TraceLine } from "../trace/lines.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions } from "../trace/reader.js";
import { isReadAgain } from "../trace/reader-input.js";
import { noSuchRun } from "./compare-results.js";
import { CurveCollector, CurveKeeper } from "./curves/collect.js";
import type { TraceCurves } from "./curves/collect.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import { HeapCounter } from "./stats-heap.js";
import type { HeapStats } from "./stats-heap.js";
import { MemoryCounter } from "./stats-memory.js";
import type { MemoryStats } from "./stats-memory.js";

/** Numbers by name, in the order in which the names were met. @public */
export type Counts = Readonly<Record<string, number>>;

/** @public */
export interface TraceStats {
  readonly file: string;
  readonly runs: number;
  readonly operations: number;
  readonly marks: number;
  readonly states: number;
  readonly operationKinds: Counts;
  readonly refusals: Counts; // by code; broken contracts as `invalid/RULE`
  readonly refused: number; // refusals without broken contracts
  readonly steps: Counts; // of granted takes
  readonly effects: Counts; // by kind
  readonly moves: { readonly effects: number; readonly pages: number; readonly operations: number };
  readonly waits: { readonly effects: number; readonly operations: number };
  readonly retirements: { readonly operations: number; readonly pages: number }; // that freed pages
  readonly retractions: number;
  readonly memory: MemoryStats; // prefix tree, host cache, transfers
  readonly heap: HeapStats | null; // null: no run of that domain
  readonly curves: TraceCurves | null; // null: not asked for
  readonly operationsWithPending: number; // after which pages were known to wait for a forward
  readonly truncated: boolean;
}

/** @public */
export interface StatsOptions extends ToolControl {
  readonly trace: string;
  readonly run?: string;
  readonly curves?: boolean; // also memory along the operations, at about the cost of a replay; default false
  readonly reader?: ReaderOptions;
}

/**
 * Reads a trace to its end and counts. For curves a trace with runs that this checkout answers otherwise is read once more,
 * where it can be. @public
 */
export async function traceStats(options: StatsOptions): Promise<TraceStats> {
  const { trace, run } = options;
  const pulse = new Pulse(options);
  const counter = new TraceCounter();
  const keeper = new CurveKeeper();
  const isCurved = options.curves === true;
  const first = new CurveCollector(keeper, isReadAgain(trace) ? new Set() : "all");
  const seen: string[] = [];
  const truncated = await readRuns(options, pulse, {
    run: (line, isChosen) => {
      seen.push(line.run);
      if (isChosen) counter.run();
      if (isCurved) first.run(line, isChosen);
    },
    chosen: (line) => {
      counter.line(line);
      if (isCurved) first.line(line);
    },
  });
  if (run !== undefined && !seen.includes(run)) throw noSuchRun(run, trace, seen);
  if (counter.operations === 0) {
    throw new InputError("trace_structure", "holds no operation, so nothing was counted", {
      file: trace,
    });
  }
  first.end();
  if (first.parted.size > 0)
    await audited(options, pulse, new CurveCollector(keeper, first.parted));
  return counter.result(trace, truncated, isCurved ? keeper.result() : null);
}

async function audited(
  options: StatsOptions,
  pulse: Pulse,
  collector: CurveCollector,
): Promise<void> {
  await readRuns(options, pulse, {
    run: (line, isChosen) => {
      collector.run(line, isChosen);
    },
    chosen: (line) => {
      collector.line(line);
    },
  });
  collector.end();
}

interface Visitor {
  readonly run: (line: RunLine, isChosen: boolean) => void;
  readonly chosen: (line: TraceLine) => void; // of a run that is looked at
}

/** Whether the trace is truncated. */
async function readRuns(options: StatsOptions, pulse: Pulse, visitor: Visitor): Promise<boolean> {
  const reader = await openTrace(options.trace, options.reader ?? {});
  let isChosen = false;
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) return reader.truncated !== null;
      for (const line of lines) {
        if (line.kind === "run") {
          isChosen = options.run === undefined || options.run === line.run;
          visitor.run(line, isChosen);
        } else if (isChosen) visitor.chosen(line);
      }
      if (pulse.count(lines.length)) await pulse.breathe();
    }
  } finally {
    await reader.close();
  }
}

class Tally {
  readonly #counts = new Map<string, number>();
  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }
  /** The largest first, equal ones by name. */
  result(): Counts {
    const entries = [...this.#counts].sort(
      ([left, many], [right, few]) => few - many || (left < right ? -1 : 1),
    );
    return Object.fromEntries(entries);
  }
}

class TraceCounter {
  marks = 0;
  states = 0;
  operations = 0;
  #runs = 0;
  #refused = 0;
  #retractions = 0;
  #withPending = 0;
  readonly #kinds = new Tally();
  readonly #refusals = new Tally();
  readonly #steps = new Tally();
  readonly #effects = new Tally();
  readonly #moves = { effects: 0, pages: 0, operations: 0 };
  readonly #waits = { effects: 0, operations: 0 };
  readonly #retirements = { operations: 0, pages: 0 };
  readonly #memory = new MemoryCounter();
  readonly #heap = new HeapCounter();
  #pending = new PendingForwards();

  run(): void {
    this.#runs += 1;
    this.#memory.run();
    this.#heap.run();
    this.#pending = new PendingForwards();
  }

  line(line: TraceLine): void {
    if (line.kind === "op") this.#operation(line);
    else if (line.kind === "mark") this.marks += 1;
    else if (line.kind === "state") this.states += 1;
  }

  #operation(line: OpLine): void {
    this.operations += 1;
    this.#kinds.add(line.op);
    if (line.err === undefined) this.#granted(line);
    else this.#refusal(line.err);
    this.#device(line.fx ?? []);
    this.#memory.operation(line);
    this.#heap.operation(line);
    if (this.#pending.after(line)) this.#withPending += 1;
  }

  result(file: string, truncated: boolean, curves: TraceCurves | null): TraceStats {
    return {
      file,
      runs: this.#runs,
      operations: this.operations,
      marks: this.marks,
      states: this.states,
      operationKinds: this.#kinds.result(),
      refusals: this.#refusals.result(),
      refused: this.#refused,
      steps: this.#steps.result(),
      effects: this.#effects.result(),
      moves: this.#moves,
      waits: this.#waits,
      retirements: this.#retirements,
      retractions: this.#retractions,
      memory: this.#memory.result(),
      heap: this.#heap.result(),
      curves,
      operationsWithPending: this.#withPending,
      truncated,
    };
  }

  #refusal({ code, rule }: NonNullable<OpLine["err"]>): void {
    if (code === "invalid") {
      this.#refusals.add(`invalid/${rule ?? "unknown"}`);
    } else {
      this.#refused += 1;
      this.#refusals.add(code);
    }
  }

  #granted({ op, ok }: OpLine): void {
    const step = (ok as { readonly step?: unknown } | undefined)?.step;
    if (typeof step === "string" && !op.startsWith("ask.")) this.#steps.add(step);
    if (op === "request.retract") this.#retractions += 1;
    if (op !== "window.retire") return;
    let pages = 0;
    for (const { freed } of Object.values(ok as Readonly<Record<string, { freed: Extents }>>)) {
      pages += countOf(freed);
    }
    if (pages === 0) return;
    this.#retirements.operations += 1;
    this.#retirements.pages += pages;
  }

  #device(effects: readonly Effect[]): void {
    let moves = 0;
    let waits = 0;
    for (const effect of effects) {
      this.#effects.add(effect[0]);
      if (effect[0] === "wait" || effect[0] === "hostwait") waits += 1;
      if (effect[0] !== "move") continue;
      moves += 1;
      this.#moves.pages += effect[2].length;
    }
    this.#moves.effects += moves;
    this.#waits.effects += waits;
    if (moves > 0) this.#moves.operations += 1;
    if (waits > 0) this.#waits.operations += 1;
  }
}

/** Pages wait for a forward from a free while one is recorded and unprocessed until that forward is processed. */
class PendingForwards {
  #recorded: string[] = [];
  readonly #waiting = new Set<string>(); // forwards that pages wait for

  /** True when pages are known to wait after this operation (a settling take is not seen). */
  after({ op, args, ok, fx }: OpLine): boolean {
    const { step } = args as { readonly step?: string };
    if (ok !== undefined && step !== undefined && op === "forward.record") {
      // Without overlap nothing is recorded, and no event is asked for.
      if (fx?.some(([kind]) => kind === "event") === true) this.#recorded.push(step);
    } else if (ok !== undefined && step !== undefined && op === "forward.process") {
      this.#recorded = this.#recorded.filter((name) => name !== step);
      this.#waiting.delete(step);
    } else if (ok !== undefined && freesPages(op, ok)) {
      const newest = this.#recorded.at(-1);
      if (newest !== undefined) this.#waiting.add(newest);
    }
    return this.#waiting.size > 0;
  }
}

function freesPages(op: string, ok: object): boolean {
  const lists =
    op === "window.retire"
      ? Object.values(ok as Readonly<Record<string, { freed: Extents }>>).map(({ freed }) => freed)
      : Object.values((ok as { readonly freed?: Readonly<Record<string, Extents>> }).freed ?? {});
  return lists.some((extents) => extents.length > 0);
}
