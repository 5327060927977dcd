// What every part with a digest of its own offers.
import type { LaneSum } from "../base/digest.js";

/** A component of the digest: `tree`, `host` or `net`. @internal */
export interface Component {
  /** Rises with every change that the digest sees. */
  readonly version: number;
  /** Adds this component's cells to `sum`; counts only unless `layout`. Cost follows what changed, not what is held. */
  digestInto(sum: LaneSum, layout: boolean): void;
}
