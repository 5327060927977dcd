// Counts of what operations and their answers exercise: operation kinds, refusals, broken rules, effects, and inside this
// checkout's allocator the steps of relief and the cells of the clearance table. Whoever runs or reads operations counts here.
import { EFFECT_KINDS } from "../base/effects.js";
import {
  type Answer,
  INVALID_RULES,
  type OperationName,
  REFUSAL_CODES,
} from "../base/operations.js";
import { CONSUMERS, HAZARDS, RELIEF_STEPS, UNREACHABLE } from "../kv/alloc/clearance.js";
import { KV_TABLE } from "../trace/operation-table.js";

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
/** Share of items covered over all tables, in whole percent, rounded down; 0 without a table. @public */
export function coveragePercent(tables: readonly CoverageTable[]): number {
  const items = tables.reduce((sum, { items: all }) => sum + all.length, 0);
  const covered = tables.reduce((sum, table) => sum + table.covered, 0);
  return items === 0 ? 0 : Math.floor((100 * covered) / items);
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

  /** @param withReached - false leaves out the last two tables: what was run does not tell what it reached inside */
  tables(withReached = true): readonly CoverageTable[] {
    const items = (prefix: string, names: readonly string[]): readonly CoverageItem[] =>
      names.map((name) => item(name, this.#of(`${prefix}${name}`)));
    const cells = CONSUMERS.flatMap((consumer) => HAZARDS.map((hazard) => `${consumer}/${hazard}`));
    const answered = [
      table("operation kinds", this.#kinds()),
      table("refusals", items("code ", REFUSAL_CODES)),
      table("broken rules", items("rule ", INVALID_RULES)),
      table("effects", items("effect ", EFFECT_KINDS)),
    ];
    if (!withReached) return answered;
    return [
      ...answered,
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
