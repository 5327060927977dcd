// Tables of latencies: one implementation, or two beside each other. Medians with their 95 % interval, in microseconds.
import type { LatencyRow, SideTimes, TimeRatio } from "../tools/latencies.js";
import type { Palette } from "./palette.js";
import { grouped, visible } from "./words.js";

const WIDTH = 22; // of an operation's name

/** @internal */
export function latencyLines(rows: readonly LatencyRow[], palette: Palette): string[] {
  if (rows.length === 0) return [];
  const line = (op: string, ...cells: readonly string[]): string => columns(op, cells, [9, 26, 10]);
  return [
    palette.dim(line("operation", "times", "median us (95 %)", "99 % us", "max us")),
    ...rows.map((row) =>
      line(visible(row.op), grouped(row.count), median(row), us(row.p99), us(row.max)),
    ),
  ];
}

/** Both sides; the ratio says slower or faster where every round says so. @internal */
export function sideTimesLines({ base, candidate, ratios }: SideTimes, palette: Palette): string[] {
  const [bases, others] = [rowsByName(base.rows), rowsByName(candidate.rows)];
  const line = (op: string, ...cells: readonly string[]): string => columns(op, cells, [9, 26, 26]);
  const lines = ratios.flatMap((ratio) => {
    const [left, right] = [bases.get(ratio.op), others.get(ratio.op)];
    if (left === undefined || right === undefined) return [];
    const cells = [grouped(left.count), median(left), median(right)];
    return [`${line(visible(ratio.op), ...cells)}  ${ratioText(ratio, palette)}`];
  });
  return [
    `times of ${visible(base.spec)} and ${visible(candidate.spec)}, without digests:`,
    palette.dim(
      `${line("operation", "times", "base us (95 %)", "candidate us (95 %)")}  candidate / base`,
    ),
    ...lines,
  ];
}

function ratioText({ ratio, low, high }: TimeRatio, palette: Palette): string {
  const text = `${ratio.toFixed(2)}x (${low.toFixed(2)} to ${high.toFixed(2)})`;
  if (low > 1) return palette.bad(`${text} slower`);
  if (high < 1) return palette.good(`${text} faster`);
  return palette.dim(text);
}

function rowsByName(rows: readonly LatencyRow[]): ReadonlyMap<string, LatencyRow> {
  return new Map(rows.map((row) => [row.op, row]));
}

/** Columns to the right of a name; the last width is that of all further ones. */
function columns(op: string, cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, index) => cell.padStart(widths[index] ?? widths.at(-1) ?? 0));
  return [op.padEnd(WIDTH), ...padded].join(" ");
}

function median({ median: value, low, high }: LatencyRow): string {
  const interval = low === null || high === null ? "too few" : `${us(low)} to ${us(high)}`;
  return `${us(value)} (${interval})`;
}

function us(value: number): string {
  return value < 100 ? value.toFixed(2) : grouped(Math.round(value));
}
