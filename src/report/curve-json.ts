// JSON of the curves of `stats`: peaks, then points as rows of numbers under named columns.
import type { CurvePeak, CurvePoint, RunCurve } from "../tools/curves/curve.js";
import { pointShares } from "../tools/curves/curve.js";

const POINT = 1_000_000; // shares are told to so many parts

/** What the numbers of a point are, before those of the parts. @internal */
export const CURVE_COLUMNS = [
  "n",
  "occupancy",
  "capacity",
  "fragmentation",
  "live_bytes",
  "span_bytes",
  "usable_bytes",
] as const;

/** A curve as it stands in the document. @internal */
export interface CurveDocument {
  readonly run: string;
  readonly domain: string;
  readonly operations: number;
  readonly parted: number | null;
  readonly parts: readonly {
    readonly name: string;
    readonly unit: string;
    readonly page_bytes: number | null;
  }[];
  readonly peaks: {
    readonly live_bytes: CurvePeak;
    readonly occupancy: CurvePeak | null;
    readonly capacity: CurvePeak | null;
    readonly fragmentation: CurvePeak | null;
    readonly parts: readonly CurvePeak[];
  };
  readonly columns: readonly string[];
  readonly points: readonly (readonly (number | null)[])[];
}

/** @internal */
export function curveJson(curve: RunCurve): CurveDocument {
  const { run, domain, operations, parted, parts, peaks, points } = curve;
  return {
    run,
    domain,
    operations,
    parted,
    parts: parts.map(({ name, unit, pageBytes }) => ({ name, unit, page_bytes: pageBytes })),
    peaks: {
      live_bytes: peaks.liveBytes,
      occupancy: rounded(peaks.occupancy),
      capacity: rounded(peaks.capacity),
      fragmentation: rounded(peaks.fragmentation),
      parts: peaks.parts,
    },
    columns: [...CURVE_COLUMNS, ...parts.map(({ name }) => name)],
    points: points.map(pointJson),
  };
}

function pointJson(point: CurvePoint): (number | null)[] {
  const { occupancy, capacity, fragmentation } = pointShares(point);
  const shares = [occupancy, capacity, fragmentation].map((value) => value && share(value));
  return [point.n, ...shares, point.liveBytes, point.spanBytes, point.usableBytes, ...point.parts];
}

function rounded(peak: CurvePeak | null): CurvePeak | null {
  return peak && { ...peak, value: share(peak.value) };
}

function share(value: number): number {
  return Math.round(value * POINT) / POINT;
}
