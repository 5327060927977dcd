// The table of `stats --allocators`: a row for each run on each allocator.
import type { HeapStudy } from "../tools/heap-study.js";
import type { Palette } from "./palette.js";
import { counted, grouped, visible } from "./words.js";

const HEAD = ["allocator", "arena", "fits", "failed", "peak", "requested", "idle", "operations/s"];

/** The last line is the summary. @public */
export function heapStudyText(studies: readonly HeapStudy[], palette: Palette): string {
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...studies.map((study) => cells(study)[column]?.length ?? 0)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) =>
        column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0),
      )
      .join("  ");
  const lines: string[] = [];
  let under = "";
  for (const study of studies) {
    const title = `${visible(study.file)}, run ${visible(study.run)}`;
    if (title !== under) lines.push(palette.bold(title), `  ${line(HEAD)}`);
    under = title;
    const text = `  ${line(cells(study))}`;
    lines.push(study.failed === 0 ? text : palette.warn(text));
  }
  const operations = studies.reduce((sum, { operations: count }) => sum + count, 0);
  const runs = new Set(studies.map(({ file, run }) => `${file}\n${run}`)).size;
  const fitting = studies.filter(({ failed }) => failed === 0).length;
  lines.push(
    "",
    `fits ${grouped(fitting)} of ${grouped(studies.length)}; ${counted(runs, "run")} and ${counted(operations, "operation")} asked`,
  );
  return lines.join("\n");
}

function cells(study: HeapStudy): string[] {
  const { operationsPerSecond: rate } = study;
  return [
    study.allocator,
    study.arenaBytes === null ? "any" : grouped(study.arenaBytes),
    study.failed === 0 ? "yes" : "no",
    grouped(study.failed),
    grouped(study.peakBytes),
    grouped(study.peakRequestedBytes),
    `${(study.idleShare * 100).toFixed(1)} %`,
    rate === null ? "-" : grouped(rate),
  ];
}
