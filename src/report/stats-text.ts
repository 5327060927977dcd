// The text of `stats`: a table a file, then the summary.
import type { Counts, TraceStats } from "../tools/stats.js";
import type { Palette } from "./palette.js";
import { counted, grouped, visible } from "./words.js";

/** @public */
export function statsText(files: readonly TraceStats[], palette: Palette): string {
  const lines = files.flatMap((stats) => fileLines(stats, palette));
  const runs = files.reduce((total, stats) => total + stats.runs, 0);
  const operations = files.reduce((total, stats) => total + stats.operations, 0);
  const partial = files.some(({ truncated }) => truncated) ? ", truncated" : "";
  const looked = `${counted(files.length, "file")}, ${counted(runs, "run")} and ${counted(operations, "operation")} counted${partial}`;
  return [...lines, looked].join("\n");
}

function fileLines(stats: TraceStats, palette: Palette): string[] {
  const { moves, waits, retirements } = stats;
  return [
    palette.bold(visible(stats.file)),
    row("runs", stats.runs),
    row("operations", stats.operations),
    ...table("by kind", stats.operationKinds),
    row("refusals", stats.refused, "broken contracts not counted"),
    ...table("by code", stats.refusals),
    ...table("steps of granted takes", stats.steps),
    row(
      "moves",
      moves.pages,
      `pages, in ${counted(moves.effects, "effect")} of ${counted(moves.operations, "operation")}`,
    ),
    row("retirements", retirements.operations, `that freed ${counted(retirements.pages, "page")}`),
    row("retractions", stats.retractions),
    row("waits", waits.effects, `in ${counted(waits.operations, "operation")}`),
    row("with pending pages", stats.operationsWithPending, "operations"),
    ...table("effects", stats.effects),
    ...(stats.marks > 0 ? [row("marks", stats.marks)] : []),
    ...(stats.states > 0 ? [row("full states", stats.states)] : []),
    "",
  ];
}

function row(name: string, count: number, rest = ""): string {
  return `  ${visible(name).padEnd(32)} ${grouped(count).padStart(12)}${rest === "" ? "" : `  ${rest}`}`;
}

function table(title: string, counts: Counts): string[] {
  const entries = Object.entries(counts);
  if (entries.length === 0) return [];
  return [`  ${title}`, ...entries.map(([name, count]) => row(`  ${name}`, count))];
}
