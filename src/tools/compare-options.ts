// What a comparison is asked to do.
import type { Commit } from "../adapter/adapter.js";
import type { ReaderOptions } from "../trace/reader.js";
import type { StartAdapter } from "./candidate.js";
import type { CompareMode } from "./equality/modes.js";
import type { MaskSet } from "./masks.js";
import type { SideDifference } from "./outcome.js";
import type { ToolControl } from "./pulse.js";
import type { ShardPart } from "./shards.js";
import type { SideFacts } from "./sides.js";

/** @public */
export interface CompareChoices extends ToolControl {
  readonly run?: string; // only this run
  readonly first?: boolean; // stop at the first divergent run
  readonly keep?: number; // operations kept before a divergence, default 5, at least 1
  readonly reader?: ReaderOptions;
  readonly mode?: CompareMode; // default exact
  readonly masks?: MaskSet;
  readonly past?: number; // operations looked at behind a divergence, default 10,000; 256 with `first`
  readonly reproduce?: (run: string, n: number) => string | null; // the command of a report's last line
}

/** @public */
export interface CompareTraceOptions extends CompareChoices {
  readonly trace: string; // a path or "-"
  readonly candidate: string; // what the user named
  readonly start: StartAdapter;
  readonly skipUnsupported?: boolean;
  readonly commit?: Promise<Commit>; // the candidate's, where its info says null because it is still looked for
  readonly onLacking?: (kinds: readonly string[]) => void; // it lacks them, the trace uses them or may use them further back
  readonly onDifferences?: (found: readonly SideDifference[]) => void; // before the first operation of each domain
  readonly shard?: ShardPart; // only the runs of this part
  readonly isOverTime?: () => boolean; // true: begin no further run
  /** @internal */
  readonly part?: ComparedPart;
  readonly isBrief?: boolean; // without the second look
  readonly isDoubled?: boolean; // two candidates side by side, which have to do the same
  readonly base?: { readonly spec: string; readonly start: StartAdapter }; // may answer as the trace does: tells full states
}

/** A part of a trace, between two of its runs. @internal */
export interface ComparedPart {
  readonly until: string | null; // the run before which it ends
  readonly index: number; // of its first run in the file
  readonly onEnd: (facts: SideFacts, runs: number) => void; // what was learnt, and how many runs were met
}
