// What a set of traces exercises: operation kinds, refusals, broken rules, effects, and inside this checkout's allocator
// the steps of relief and the cells of the clearance table. The lines tell the first four; for the last two the traces
// are replayed, since a line does not say which rule a wait came from.
import type { InProcessAdapter } from "../adapter/in-process.js";
import { EFFECT_KINDS } from "../base/effects.js";
import { INVALID_RULES, REFUSAL_CODES } from "../base/operations.js";
import { CONSUMERS, HAZARDS, RELIEF_STEPS, UNREACHABLE } from "../kv/alloc/clearance.js";
import type { OpLine } from "../trace/lines.js";
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
  const lines = new LineCounts();
  const reached = new Map<string, number>();
  let violations = 0;
  for (const trace of options.traces) {
    await countLines(trace, options, lines);
    const adapter = options.start();
    const { traces: _traces, start: _start, ...control } = options;
    const replay = await replayTrace({ ...control, trace, start: async () => adapter });
    violations += replay.violations.length;
    for (const [name, count] of adapter.reached)
      reached.set(name, (reached.get(name) ?? 0) + count);
  }
  const tables = [
    table("operation kinds", lines.kinds()),
    table("refusals", lines.codes()),
    table("broken rules", lines.rules()),
    table("effects", lines.effects()),
    table(
      "relief steps",
      RELIEF_STEPS.map((step) => item(step, reached.get(`relief/${step}`) ?? 0)),
    ),
    table(
      "clearance cells",
      CONSUMERS.flatMap((consumer) => HAZARDS.map((hazard) => cell(consumer, hazard, reached))),
    ),
  ];
  const { runs, operations } = lines;
  return { files: options.traces, runs, operations, tables, violations };
}

async function countLines(
  trace: string,
  options: CoverageOptions,
  counts: LineCounts,
): Promise<void> {
  const reader = await openTrace(trace, options.reader ?? {});
  const pulse = new Pulse(options);
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) return;
      for (const line of lines) {
        if (line.kind === "run") counts.runs += 1;
        else if (line.kind === "op") counts.add(line);
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
function cell(
  consumer: string,
  hazard: string,
  reached: ReadonlyMap<string, number>,
): CoverageItem {
  const name = `${consumer}/${hazard}`;
  const count = reached.get(`clearance/${name}`) ?? 0;
  const argument = UNREACHABLE[name];
  if (argument === undefined) return item(name, count);
  return count === 0
    ? { name, count, isCovered: true, note: argument }
    : { name, count, isCovered: false, note: `reached, though ${argument}` };
}

/** What the lines of traces show. */
class LineCounts {
  runs = 0;
  operations = 0;
  readonly #granted = new Map<string, number>();
  readonly #withEffects = new Map<string, number>();
  readonly #codes = new Map<string, number>();
  readonly #rules = new Map<string, number>();
  readonly #effects = new Map<string, number>();

  add({ op, err, fx }: OpLine): void {
    this.operations += 1;
    if (err === undefined) {
      count(this.#granted, op);
      if (fx !== undefined && fx.length > 0) count(this.#withEffects, op);
    } else if (err.code === "invalid") count(this.#rules, err.rule ?? "");
    else count(this.#codes, err.code);
    for (const [kind] of fx ?? []) count(this.#effects, kind);
  }

  kinds(): readonly CoverageItem[] {
    return Object.values(KV_TABLE).map(({ name, effects }): CoverageItem => {
      const granted = this.#granted.get(name) ?? 0;
      // Boot comes once a run: asking for ten would ask for ten runs.
      const isShort = granted < GRANTS_ASKED;
      const lacksEffect = effects.length > 0 && !this.#withEffects.has(name);
      const missing = [
        ...(isShort ? [`granted ${String(granted)} times of ${String(GRANTS_ASKED)}`] : []),
        ...(lacksEffect ? ["never with an effect"] : []),
      ];
      return missing.length === 0
        ? { name, count: granted, isCovered: true }
        : { name, count: granted, isCovered: false, note: missing.join(", ") };
    });
  }
  codes(): readonly CoverageItem[] {
    return REFUSAL_CODES.map((code) => item(code, this.#codes.get(code) ?? 0));
  }
  rules(): readonly CoverageItem[] {
    return INVALID_RULES.map((rule) => item(rule, this.#rules.get(rule) ?? 0));
  }
  effects(): readonly CoverageItem[] {
    return EFFECT_KINDS.map((kind) => item(kind, this.#effects.get(kind) ?? 0));
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
