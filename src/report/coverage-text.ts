// The text of `stats --coverage`: a line a table, then what is missing.
import type { Coverage, CoverageTable } from "../tools/coverage.js";
import type { Palette } from "./palette.js";
import { counted, visible } from "./words.js";

/** Share of items covered over all tables, in whole percent, rounded down. @public */
export function coveragePercent({ tables }: Coverage): number {
  const items = tables.reduce((sum, { items: all }) => sum + all.length, 0);
  const covered = tables.reduce((sum, table) => sum + table.covered, 0);
  return Math.floor((100 * covered) / items);
}

/** @public */
export function coverageText(coverage: Coverage, palette: Palette): string {
  const { files, runs, operations, tables, violations } = coverage;
  const looked = `${counted(files.length, "file")}, ${counted(runs, "run")} and ${counted(operations, "operation")} looked at`;
  return [
    ...tables.flatMap((table) => tableLines(table, palette)),
    ...(violations > 0
      ? [
          palette.bold(
            `${counted(violations, "violation")} in the replay: its tables are not to be trusted`,
          ),
        ]
      : []),
    `${looked}: ${String(coveragePercent(coverage))} % covered`,
  ].join("\n");
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
