// The text of `stats --coverage` and `run --coverage`: a line a table, then what is missing.
import { coveragePercent } from "../tools/coverage-counts.js";
import type { CoverageTable } from "../tools/coverage-counts.js";
import type { Coverage } from "../tools/coverage.js";
import type { Palette } from "./palette.js";
import { counted, visible } from "./words.js";

/** @public */
export function coverageText(coverage: Coverage, palette: Palette): string {
  const { files, runs, operations, tables, violations } = coverage;
  const looked = `${counted(files.length, "file")}, ${counted(runs, "run")} and ${counted(operations, "operation")} looked at`;
  return [
    ...coverageLines(tables, palette),
    ...(violations > 0
      ? [
          palette.bold(
            `${counted(violations, "violation")} in the replay: its tables are not to be trusted`,
          ),
        ]
      : []),
    `${looked}: ${String(coveragePercent(tables))} % covered`,
  ].join("\n");
}

/** A line a table, each followed by what it misses. @internal */
export function coverageLines(tables: readonly CoverageTable[], palette: Palette): string[] {
  return tables.flatMap((table) => tableLines(table, palette));
}

function tableLines({ name, items, covered }: CoverageTable, palette: Palette): string[] {
  const head = `${name.padEnd(18)} ${String(covered).padStart(3)} of ${String(items.length).padStart(3)}`;
  const missing = items.filter(({ isCovered }) => !isCovered);
  return [
    palette.bold(head),
    ...missing.map(
      (item) =>
        `  missing  ${visible(item.name)}${item.note === undefined ? "" : `  ${item.note}`}`,
    ),
  ];
}
