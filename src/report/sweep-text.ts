// The text of `sweep`: where operations begin to be refused, then a row for each value, then the summary.
import type { RefusalSpan, Sweep, SweepPoint } from "../tools/sweep/outcome.js";
import type { Palette } from "./palette.js";
import { sweepVerdict } from "./sweep-json.js";
import { counted, grouped, shortened, visible } from "./words.js";

const MESSAGE_MAX = 200;

/** The last line is the summary. @public */
export function sweepText(result: Sweep, palette: Palette): string {
  const { key, values, points, refusals, runs, operations } = result;
  const lines = [palette.bold(`where operations begin to be refused, by ${visible(key)}`)];
  if (refusals.length === 0) lines.push("  no operation is refused at any value");
  else lines.push(...table([SPAN_HEAD, ...refusals.map((span) => spanCells(span, points))], 2));
  lines.push("", palette.bold("at each value"));
  const bands = [
    ...new Set(points.flatMap((point) => (point.bands ?? []).map(({ band }) => band))),
  ];
  const hasHeap = points.some(({ heap }) => heap !== null);
  const rows = table(
    [pointHead(key, bands, hasHeap), ...points.map(pointCells(bands, hasHeap))],
    0,
  );
  lines.push(...rows.map((row, at) => (points[at - 1]?.refused ? palette.warn(row) : row)));
  for (const { value, outcome, message } of points)
    if (message !== null)
      lines.push(`  ${grouped(value)} ${outcome}: ${shortened(visible(message), MESSAGE_MAX)}`);
  const verdict = sweepVerdict(result);
  const paint = verdict === "swept" ? palette.good : palette.warn;
  const reached =
    points.length === values.length
      ? counted(values.length, "value")
      : `${grouped(points.length)} of ${counted(values.length, "value")}`;
  const counts = `${counted(runs, "run")} and ${counted(operations, "operation")} replayed`;
  lines.push("", paint(`${verdict}: ${reached}, ${counts}`));
  return lines.join("\n");
}

const SPAN_HEAD = ["operation", "refused with", "begins at", "first", "last", "values"];

function spanCells(span: RefusalSpan, points: readonly SweepPoint[]): string[] {
  const { op, code, begins, first, last, values } = span;
  const edge =
    begins !== null
      ? grouped(begins.value)
      : values === points.length
        ? "at every value"
        : "not clear";
  const cells = [op, code, edge, grouped(first), grouped(last), grouped(values)];
  if (begins === null) return cells;
  return [...cells, `run ${visible(begins.run)}, operation ${grouped(begins.n)}`];
}

function pointHead(key: string, bands: readonly string[], hasHeap: boolean): string[] {
  const head = [visible(key), "granted", "refused", "invalid"];
  if (hasHeap) head.push("left out", "peak requested", "peak end");
  if (bands.length > 0) head.push("moves", ...bands.map((band) => `peak ${visible(band)}`));
  return head;
}

function pointCells(bands: readonly string[], hasHeap: boolean): (point: SweepPoint) => string[] {
  return (point) => {
    const { value, granted, refused, invalid, left, moves, heap } = point;
    const cells = [value, granted, refused, invalid].map(grouped);
    const orDash = (number: number | undefined | null): string =>
      number === undefined || number === null ? "-" : grouped(number);
    if (hasHeap) cells.push(grouped(left), orDash(heap?.requestedBytes), orDash(heap?.endBytes));
    if (bands.length === 0) return cells;
    cells.push(orDash(moves));
    for (const name of bands)
      cells.push(orDash(point.bands?.find(({ band }) => band === name)?.pages));
    return cells;
  };
}

/** Aligned columns, the first `left` ones and any beyond the head's to the left. */
function table(rows: readonly (readonly string[])[], left: number): string[] {
  const head = rows[0] ?? [];
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((text, column) => {
      const width = widths[column] ?? 0;
      return column < left ? text.padEnd(width) : text.padStart(width);
    });
    return `  ${cells.join("  ")}`.trimEnd();
  });
}
