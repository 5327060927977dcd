// One stretch of runs of a trace, compared on a thread of its own: what goes in, and what comes out, as plain data.
import { openAdapter } from "../../adapter/open-adapter.js";
import type { OpenAdapterOptions } from "../../adapter/open-adapter.js";
import type { TraceResume } from "../../trace/reader-equal.js";
import { compareTrace } from "../compare-trace.js";
import type { CompareTraceOptions } from "../compare-options.js";
import type { StartAdapter } from "../candidate.js";
import type { Mask } from "../masks.js";
import { MaskSet } from "../masks.js";
import type { CompareResult } from "../outcome.js";
import type { SideFacts } from "../sides.js";

/** An implementation as another thread can start it. @public */
export interface ImplementationData {
  readonly spec: string;
  readonly options: OpenAdapterOptions; // without functions and signals
}

/** What every part is told. @internal */
export interface PartPlan {
  readonly trace: string;
  readonly candidate: ImplementationData;
  readonly base: ImplementationData | null;
  readonly masks: readonly Mask[];
  readonly deadline: number | null; // milliseconds since 1970
  readonly maxLineBytes: number | null;
  readonly choices: Pick<
    CompareTraceOptions,
    "keep" | "mode" | "past" | "skipUnsupported" | "isDoubled" | "shard" | "isBrief"
  >;
}

/** Which runs. @internal */
export interface Part {
  readonly resume: TraceResume;
  readonly until: string | null; // the run with which the next part begins, null: the end of the file
  readonly index: number; // of its first run in the file
  readonly runs: number; // as many as are expected
}

/** Null where a part did not go smoothly: then all is compared once more, in order. @internal */
export type PartOutcome = {
  readonly result: CompareResult;
  readonly facts: SideFacts;
} | null;

/** @internal */
export async function comparePart(plan: PartPlan, part: Part): Promise<PartOutcome> {
  const { trace, masks, deadline, maxLineBytes, base } = plan;
  const learnt: { facts: SideFacts | null; runs: number } = { facts: null, runs: 0 };
  try {
    const result = await compareTrace({
      ...plan.choices,
      trace,
      candidate: plan.candidate.spec,
      start: starter(plan.candidate),
      ...(base && { base: { spec: base.spec, start: starter(base) } }),
      ...(masks.length === 0 ? {} : { masks: new MaskSet(masks) }),
      ...(deadline === null ? {} : { isOverTime: () => Date.now() > deadline }),
      reader: { resume: part.resume, ...(maxLineBytes === null ? {} : { maxLineBytes }) },
      part: {
        until: part.until,
        index: part.index,
        onEnd: (facts, runs) => {
          Object.assign(learnt, { facts, runs });
        },
      },
    });
    const { facts, runs } = learnt;
    const isSmooth = result.error === null && runs === part.runs;
    return isSmooth && facts !== null ? { result, facts } : null;
  } catch {
    return null; // whatever it was, comparing in order says it as it should be said
  }
}

function starter({ spec, options }: ImplementationData): StartAdapter {
  return () => openAdapter(spec, options);
}
