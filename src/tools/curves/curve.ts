// What is kept of a run's memory along its operations: one form for both domains.
import type { Domain } from "../../base/operations.js";
import { share } from "../view/shares.js";

/** Memory after one operation. Bytes; null where nothing tells. @public */
export interface CurvePoint {
  readonly n: number; // the operation
  readonly liveBytes: number; // kv: of live pages; heap: what live objects asked for
  /** kv: of the spans of all bands; heap: up to the end of the last live object, of all pools. */
  readonly spanBytes: number | null;
  readonly usableBytes: number | null; // kv: the arena without what is reserved; heap: the arena of the configuration
  readonly parts: readonly number[]; // one a part of the curve
}

/** What a number of `CurvePoint.parts` counts: pages of a band that are live, or requests of a heap that failed so far.
 * @public */
export interface CurvePart {
  readonly name: string; // of the band; `failed`
  readonly unit: "pages" | "requests";
  readonly pageBytes: number | null; // of a band; null: no band
}

/** An extreme of a run, and the first operation that has it. @public */
export interface CurvePeak {
  readonly value: number;
  readonly n: number;
}

/** @public */
export interface RunCurve {
  readonly run: string;
  readonly domain: Domain;
  readonly operations: number;
  readonly parts: readonly CurvePart[]; // kv: the bands in chain order
  /** First operation from which on spans are known where the trace holds a full state alone; null: they are known
   * throughout. */
  readonly parted: number | null;
  readonly peaks: {
    readonly liveBytes: CurvePeak;
    readonly occupancy: CurvePeak | null; // highest
    readonly capacity: CurvePeak | null; // lowest
    readonly fragmentation: CurvePeak | null; // highest
    readonly parts: readonly CurvePeak[]; // highest, one a part
  };
  /** Ascending, at most CURVE_POINTS: memory as it was after these operations, with every peak and the last operation. */
  readonly points: readonly CurvePoint[];
}

/** 0 to 1 each; null where nothing tells. @public */
export interface PointShares {
  readonly occupancy: number | null;
  readonly capacity: number | null;
  readonly fragmentation: number | null;
}

/** The shares of one point, as `sharesOf` defines them. Objects that lie over one another fill no more than their span.
 * @public */
export function pointShares({ liveBytes, spanBytes, usableBytes }: CurvePoint): PointShares {
  const hasSpan = spanBytes !== null;
  const hasArena = usableBytes !== null;
  return {
    occupancy: hasArena ? share(liveBytes, usableBytes) : null,
    capacity: hasArena && hasSpan ? share(usableBytes - spanBytes, usableBytes) : null,
    fragmentation: hasSpan ? share(Math.max(0, spanBytes - liveBytes), spanBytes) : null,
  };
}
