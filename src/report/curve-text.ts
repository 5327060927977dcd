// The curves of `stats` in the terminal: the peaks of a run, then a line of blocks for each curve.
import type { TraceCurves } from "../tools/curves/collect.js";
import type { CurvePeak, CurvePoint, RunCurve } from "../tools/curves/curve.js";
import { pointShares } from "../tools/curves/curve.js";
import type { Palette } from "./palette.js";
import { bytes, counted, grouped, visible } from "./words.js";

const RUNS_MAX = 3; // that are all shown
const COLUMNS_MAX = 60;
const BLOCKS = "▁▂▃▄▅▆▇█";
const UNKNOWN = "·";
const NAME = 32; // columns

/** The curves of one file; of many runs that with the most live bytes. @public */
export function curvesText({ curves, leftOut }: TraceCurves, palette: Palette): string[] {
  if (curves.length === 0) return [];
  const shown = curves.length > RUNS_MAX ? [largestOf(curves)] : curves;
  const others = curves.length + leftOut - shown.length;
  const rest =
    others === 0
      ? []
      : [
          `  curves of ${counted(others, "more run")} are not shown: --run names one, --json has ${curves.length === 1 ? "it" : grouped(curves.length)}`,
        ];
  return [...shown.flatMap((curve) => runLines(curve, palette)), ...rest];
}

function largestOf(curves: readonly RunCurve[]): RunCurve {
  return curves.reduce((most, curve) =>
    curve.peaks.liveBytes.value > most.peaks.liveBytes.value ? curve : most,
  );
}

function runLines(curve: RunCurve, palette: Palette): string[] {
  const { run, operations, peaks, parts, points, parted } = curve;
  const { liveBytes, occupancy, capacity, fragmentation } = peaks;
  const usable = points.find(({ n }) => n === occupancy?.n)?.usableBytes ?? null;
  const of = usable === null ? "" : `of ${bytes(usable)}, `;
  const at = ({ n }: CurvePeak): string => `at operation ${grouped(n)}`;
  const shareRow = (name: string, peak: CurvePeak | null, about = ""): string[] =>
    peak === null ? [] : [row(name, percent(peak.value), `${about}${at(peak)}`)];
  const told = curve.domain === "kv" ? "pages" : "requested bytes";
  return [
    `  ${palette.bold(`run ${visible(run)}`)}, ${counted(operations, "operation")}`,
    row("peak live bytes", grouped(liveBytes.value), `of ${told}, ${at(liveBytes)}`),
    ...shareRow("peak occupancy", occupancy, of),
    ...shareRow("lowest capacity", capacity),
    ...shareRow("peak fragmentation", fragmentation),
    ...parts.flatMap(({ name, unit }, index) => {
      const peak = peaks.parts[index];
      if (peak === undefined || unit !== "pages") return [];
      return [row(`peak pages of ${visible(name)}`, grouped(peak.value), at(peak))];
    }),
    ...curveRows(curve),
    ...(parted === null
      ? []
      : [
          `    from operation ${grouped(parted)} on this checkout answers otherwise: capacity and fragmentation are not known there`,
        ]),
  ];
}

function curveRows({ points, peaks }: RunCurve): string[] {
  const { liveBytes, occupancy, capacity, fragmentation } = peaks;
  const line = (name: string, of: (point: CurvePoint) => number | null, about: string): string =>
    `    ${name.padEnd(14)} ${blocks(points, of)}  ${about}`;
  const whole = "0 to 100 %";
  const most = liveBytes.value;
  return [
    ...(occupancy === null
      ? [
          line(
            "live bytes",
            (point) => point.liveBytes / Math.max(1, most),
            `0 to ${grouped(most)}`,
          ),
        ]
      : [line("occupancy", (point) => pointShares(point).occupancy, whole)]),
    ...(capacity === null
      ? []
      : [line("capacity", (point) => lowest(pointShares(point).capacity), whole)]),
    ...(fragmentation === null
      ? []
      : [line("fragmentation", (point) => pointShares(point).fragmentation, whole)]),
    `    ${"".padEnd(14)} ${axis(points)}`,
  ];
}

// A column shows the highest of its points. Where the lowest counts, it goes in negative.
function lowest(value: number | null): number | null {
  return value === null ? null : -value;
}

/** A column for as many operations, from the first to the last; one without a point goes on from the one before. */
function blocks(points: readonly CurvePoint[], of: (point: CurvePoint) => number | null): string {
  const [first, width] = reach(points);
  const columns: (number | null)[] = [];
  let next = 0;
  let last: number | null = null;
  for (let column = 0; column < widthOf(width); column++) {
    const end = first + ((column + 1) * width) / widthOf(width);
    let best: number | null | undefined;
    for (; next < points.length && points[next]!.n < end; next++) {
      last = of(points[next]!); // within the list
      if (best === undefined || best === null || (last !== null && last > best)) best = last;
    }
    columns.push(best === undefined ? last : best);
  }
  return columns
    .map((value) => (value === null ? UNKNOWN : BLOCKS.charAt(blockOf(Math.abs(value)))))
    .join("");
}

function blockOf(value: number): number {
  return Math.max(0, Math.min(BLOCKS.length - 1, Math.floor(value * BLOCKS.length)));
}

/** The first operation, and how many there are from it to the last. */
function reach(points: readonly CurvePoint[]): readonly [first: number, operations: number] {
  const [first, last] = [points[0]?.n ?? 0, points.at(-1)?.n ?? 0];
  return [first, last - first + 1];
}
function widthOf(operations: number): number {
  return Math.min(COLUMNS_MAX, operations);
}

function axis(points: readonly CurvePoint[]): string {
  const [first, operations] = reach(points);
  const [left, right] = [grouped(first), grouped(first + operations - 1)];
  const gap = widthOf(operations) - left.length - right.length;
  return gap < 1 ? `operations ${left} to ${right}` : `${left}${" ".repeat(gap)}${right}`;
}

function row(name: string, value: string, rest: string): string {
  return `  ${`  ${name}`.padEnd(NAME)} ${value.padStart(12)}  ${rest}`.trimEnd();
}

function percent(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}
