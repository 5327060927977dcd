// What a set of traces exercises: operation kinds, refusals, broken rules, effects, and inside this checkout's allocator
// the steps of relief and the cells of the clearance table. The lines tell the first four; for the last two the traces
// are replayed, since a line does not say which rule a wait came from.
import type { InProcessAdapter } from "../adapter/in-process.js";
import { EFFECT_KINDS } from "../base/effects.js";
import {
  type Answer,
  INVALID_RULES,
  type OperationName,
  REFUSAL_CODES,
} from "../base/operations.js";
import { CONSUMERS, HAZARDS, RELIEF_STEPS, UNREACHABLE } from "../kv/alloc/clearance.js";
import { KV_TABLE } from "../trace/operation-table.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions } from "../trace/reader.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import { replayTrace } from "./replay.js";

/** Operations of one kind that are asked for, at the least, with success. */
const GRANTS_ASKED = 10;

/** One thing that may be exercised. @public */
export interface CoverageItem {
  readonly name: string;
  readonly count: number;
  readonly isCovered: boolean;
  readonly note?: string; // what is missing, or why nothing is asked
}
/** One table of them. @public */
export interface CoverageTable {
  readonly name:
    | "operation kinds"
    | "refusals"
    | "broken rules"
    | "effects"
    | "relief steps"
    | "clearance cells";
  readonly items: readonly CoverageItem[];
  readonly covered: number;
}
/** @public */
export interface Coverage {
  readonly files: readonly string[];
  readonly runs: number;
  readonly operations: number;
  readonly tables: readonly CoverageTable[];
  readonly violations: number; // of the replay: then the last two tables cannot be trusted
}

/** @public */
export interface CoverageOptions extends ToolControl {
  readonly traces: readonly string[];
  readonly reader?: ReaderOptions;
  /** Starts the allocator on which the traces are replayed. */
  readonly start: () => InProcessAdapter;
}

/** Reads and replays traces and says what they exercise. @public */
export async function traceCoverage(options: CoverageOptions): Promise<Coverage> {
  const counts = new CoverageCounts();
  let runs = 0;
  let violations = 0;
  for (const trace of options.traces) {
    runs += await countLines(trace, options, counts);
    const adapter = options.start();
    const { traces: _traces, start: _start, ...control } = options;
    const replay = await replayTrace({ ...control, trace, start: async () => adapter });
    violations += replay.violations.length;
    counts.reach(adapter.reached);
  }
  const { operations } = counts;
  return { files: options.traces, runs, operations, tables: counts.tables(), violations };
}

/** Counts the operations of a trace; returns its number of runs. */
async function countLines(
  trace: string,
  options: CoverageOptions,
  counts: CoverageCounts,
): Promise<number> {
  let runs = 0;
  const reader = await openTrace(trace, options.reader ?? {});
  const pulse = new Pulse(options);
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) return runs;
      for (const line of lines) {
        if (line.kind === "run") runs += 1;
        else if (line.kind === "op") counts.add(line.op, line);
      }
      if (pulse.count(lines.length)) await pulse.breathe();
    }
  } finally {
    await reader.close();
  }
}

function item(name: string, count: number): CoverageItem {
  return { name, count, isCovered: count > 0 };
}

function table(name: CoverageTable["name"], items: readonly CoverageItem[]): CoverageTable {
  return { name, items, covered: items.filter(({ isCovered }) => isCovered).length };
}

/** A cell that cannot occur is covered by its argument; reaching it all the same is a finding. */
function cell(name: string, count: number): CoverageItem {
  const argument = UNREACHABLE[name];
  if (argument === undefined) return item(name, count);
  return count === 0
    ? { name, count, isCovered: true, note: argument }
    : { name, count, isCovered: false, note: `reached, though ${argument}` };
}

/** What operations and their answers exercise; sums of runs can be joined. @public */
export class CoverageCounts {
  operations = 0;
  readonly #counts: Map<string, number>; // by table and name

  /** @param counts - those of `entries` */
  constructor(counts: Iterable<readonly [string, number]> = []) {
    this.#counts = new Map(counts);
    this.operations = this.#of("operations");
  }

  add(op: OperationName, { err, fx }: Pick<Answer, "err" | "fx">): void {
    this.operations += 1;
    this.#count("operations");
    if (err === undefined) {
      this.#count(`granted ${op}`);
      if (fx !== undefined && fx.length > 0) this.#count(`effective ${op}`);
    } else if (err.code === "invalid") this.#count(`rule ${err.rule ?? ""}`);
    else this.#count(`code ${err.code}`);
    for (const [kind] of fx ?? []) this.#count(`effect ${kind}`);
  }

  /** Adds what the allocator's decisions reached: `clearance/CONSUMER/HAZARD` and `relief/STEP`. */
  reach(reached: ReadonlyMap<string, number>): void {
    for (const [name, count] of reached) this.#count(name, count);
  }

  join(other: CoverageCounts): void {
    for (const [name, count] of other.entries()) this.#count(name, count);
    this.operations += other.operations;
  }

  /** All counts, for a constructor elsewhere. */
  entries(): readonly (readonly [string, number])[] {
    return [...this.#counts];
  }

  tables(): readonly CoverageTable[] {
    const items = (prefix: string, names: readonly string[]): readonly CoverageItem[] =>
      names.map((name) => item(name, this.#of(`${prefix}${name}`)));
    const cells = CONSUMERS.flatMap((consumer) => HAZARDS.map((hazard) => `${consumer}/${hazard}`));
    return [
      table("operation kinds", this.#kinds()),
      table("refusals", items("code ", REFUSAL_CODES)),
      table("broken rules", items("rule ", INVALID_RULES)),
      table("effects", items("effect ", EFFECT_KINDS)),
      table("relief steps", items("relief/", RELIEF_STEPS)),
      table(
        "clearance cells",
        cells.map((name) => cell(name, this.#of(`clearance/${name}`))),
      ),
    ];
  }

  #kinds(): readonly CoverageItem[] {
    return Object.values(KV_TABLE).map(({ name, effects }): CoverageItem => {
      const granted = this.#of(`granted ${name}`);
      // Boot comes once a run: asking for ten would ask for ten runs.
      const isShort = granted < GRANTS_ASKED;
      const lacksEffect = effects.length > 0 && this.#of(`effective ${name}`) === 0;
      const missing = [
        ...(isShort ? [`granted ${String(granted)} times of ${String(GRANTS_ASKED)}`] : []),
        ...(lacksEffect ? ["never with an effect"] : []),
      ];
      return missing.length === 0
        ? { name, count: granted, isCovered: true }
        : { name, count: granted, isCovered: false, note: missing.join(", ") };
    });
  }

  #of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
  #count(name: string, by = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by);
  }
}
