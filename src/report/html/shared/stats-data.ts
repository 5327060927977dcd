// The data of the page of `stats`: JSON, small enough to stand as it is. Types only.
import type { CurveDocument } from "../../curve-json.js";

/** @internal */
export interface StatsPageRun {
  readonly file: string;
  readonly curve: CurveDocument;
}

/** @internal */
export interface StatsPageData {
  readonly runs: readonly StatsPageRun[];
}
