// An alignment as JSON; `recovers` is the operation of the base from which on both sides do the same.
import type { AlignedRange, Alignment } from "../tools/align/alignment.js";

/** The key `alignment` of a run. @internal */
export function alignmentJson(alignment: Alignment | null): unknown {
  if (alignment === null) return null;
  return {
    blocks: alignment.blocks.map((block) => ({
      kind: block.kind,
      base: rangeJson(block.base),
      candidate: rangeJson(block.candidate),
      operations: block.operations,
      summary: block.summary,
      opens: block.opens,
      cause: block.cause,
    })),
    agreed: alignment.agreed,
    read: alignment.read,
    recovers: alignment.recovers,
    whole: alignment.isWhole,
  };
}

/** Of the base; false: the sides do not agree again; null: not determined, or nothing is missing or more. @internal */
export function recoveryOf(alignment: Alignment | null): number | false | null {
  if (alignment === null || alignment.blocks.length === 0) return null;
  return alignment.recovers?.base ?? (alignment.isWhole ? false : null);
}

function rangeJson({ from, to, events }: AlignedRange): unknown {
  return { from, to, events };
}
