// Coverage tables in the JSON documents of `stats --coverage`, `run --coverage` and `stress`, and back.
import type { CoverageTable } from "../tools/coverage-counts.js";
import type { RunResult } from "../tools/outcome.js";

/** A coverage table as a document has it. @internal */
export interface CoverageTableDocument {
  readonly name: CoverageTable["name"];
  readonly covered: number;
  readonly of: number;
  readonly items: readonly {
    readonly name: string;
    readonly count: number;
    readonly covered: boolean;
    readonly note: string | null;
  }[];
}

/** What `run --json` has of it. @internal */
export interface RunCoverageDocument {
  readonly percent: number;
  readonly floor: number | null;
  readonly tables: readonly CoverageTableDocument[];
}

/** @internal */
export function coverageTablesJson(
  tables: readonly CoverageTable[],
): readonly CoverageTableDocument[] {
  return tables.map(({ name, covered, items }) => ({
    name,
    covered,
    of: items.length,
    items: items.map((item) => ({
      name: item.name,
      count: item.count,
      covered: item.isCovered,
      note: item.note ?? null,
    })),
  }));
}

/** @internal */
export function coverageTablesFromJson(
  tables: readonly CoverageTableDocument[],
): readonly CoverageTable[] {
  return tables.map(({ name, covered, items }) => ({
    name,
    covered,
    items: items.map((item) => ({
      name: item.name,
      count: item.count,
      isCovered: item.covered,
      ...(item.note === null ? {} : { note: item.note }),
    })),
  }));
}

/** @internal */
export function runCoverageJson({
  percent,
  floor,
  tables,
}: NonNullable<RunResult["coverage"]>): RunCoverageDocument {
  return { percent, floor, tables: coverageTablesJson(tables) };
}
