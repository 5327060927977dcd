// The curves of the runs of a trace, while it is read. Of many runs those with the most live bytes are kept, so that memory
// follows neither their number nor their length.
import type { RunLine, TraceLine } from "../../trace/lines.js";
import type { RunCurve } from "./curve.js";
import { HeapRunCurve } from "./heap-curve.js";
import { KvCurve } from "./kv-curve.js";

const CURVES_MAX = 32; // of one trace

/** @public */
export interface TraceCurves {
  readonly curves: readonly RunCurve[]; // in the order of the trace
  readonly leftOut: number; // further runs that have one
}

/** Which runs are followed with books of what is live from their beginning, by their place in the trace. @internal */
export type Audited = "all" | ReadonlySet<number>;

interface Kept {
  readonly place: number; // of the run in the trace
  readonly curve: RunCurve;
}

/** Keeps those with the most live bytes; of equal ones the first. @internal */
export class CurveKeeper {
  readonly #kept: Kept[] = [];
  #leftOut = 0;

  offer(place: number, curve: RunCurve): void {
    this.#kept.push({ place, curve });
    if (this.#kept.length <= CURVES_MAX) return;
    this.#kept.sort((left, right) => liveOf(right) - liveOf(left) || left.place - right.place);
    this.#kept.pop();
    this.#leftOut += 1;
  }

  result(): TraceCurves {
    const ordered = [...this.#kept].sort((left, right) => left.place - right.place);
    return { curves: ordered.map(({ curve }) => curve), leftOut: this.#leftOut };
  }
}

/** Follows the lines of a trace. Runs that this checkout answers otherwise, and that were not audited, are named instead of
 * kept. @internal */
export class CurveCollector {
  readonly parted: Set<number> = new Set();
  readonly #keeper: CurveKeeper;
  readonly #audited: Audited;
  readonly #isSecond: boolean; // only runs that are audited are looked at
  #place = -1;
  #open: KvCurve | HeapRunCurve | null = null;

  constructor(keeper: CurveKeeper, audited: Audited) {
    this.#keeper = keeper;
    this.#audited = audited;
    this.#isSecond = audited !== "all" && audited.size > 0;
  }

  /** A run begins. @param isChosen - whether it is looked at */
  run(line: RunLine, isChosen: boolean): void {
    this.end();
    this.#place += 1;
    const isAudited = this.#audited === "all" || this.#audited.has(this.#place);
    if (!isChosen || (this.#isSecond && !isAudited)) return;
    this.#open = line.domain === "kv" ? new KvCurve(line, isAudited) : new HeapRunCurve(line);
  }

  /** A line of a run that is looked at. */
  line(line: TraceLine): void {
    if (line.kind === "op") this.#open?.operation(line);
    else if (line.kind === "state" && this.#open instanceof KvCurve)
      this.#open.state(line.n, line.state);
  }

  /** The last run is over. */
  end(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    const isAudited = this.#audited === "all" || this.#audited.has(this.#place);
    if (open instanceof KvCurve && open.parted !== null && !isAudited) {
      this.parted.add(this.#place);
      return;
    }
    const curve = open.result();
    if (curve !== null) this.#keeper.offer(this.#place, curve);
  }
}

function liveOf({ curve }: Kept): number {
  return curve.peaks.liveBytes.value;
}
