// Coverage tables in the JSON documents of `stats --coverage` and `stress`.
import type { CoverageTable } from "../tools/coverage.js";

/** @internal */
export function coverageTablesJson(tables: readonly CoverageTable[]): unknown {
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
