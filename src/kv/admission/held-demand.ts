// What a request still needs beside what it holds: its demand less that, and never less than its next chunk takes.
import { type DemandRules, requestDemand, trackingSlots } from "../alloc/demand.js";

/** What a request has when a chunk of it is priced. @internal */
export interface Holdings {
  readonly allocated: number; // tokens
  readonly pages: number; // places of its row that have had a page
  readonly bound: readonly number[]; // [bands] window pages bound now; used for window bands
  readonly mainSlots: number;
  readonly trackSlots: number;
}

/**
 * Pages by band index (slots for state) that a request is charged beside what it holds, for a chunk that begins at its
 * allocated length. Where it holds nothing, this is its ADMIT demand.
 *
 * Owner: the pages of `input + maxNew` that its row has not. A window: what its peak exceeds the bound pages by; at
 * least the chunk's own pages, since pages that left the window may still be bound when the chunk is taken; at most
 * the owner's, since no more can follow. State: the main and the tracking slots that are missing. @internal
 */
export function heldDemand(
  rules: DemandRules,
  held: Holdings,
  request: { readonly input: number; readonly maxNew: number },
  chunk: number,
): number[] {
  const { config, plans } = rules;
  const pagesOf = (tokens: number): number => Math.ceil(tokens / config.pageSize);
  const { input, maxNew } = request;
  const left = Math.max(0, pagesOf(input + maxNew) - held.pages);
  const next = Math.max(0, pagesOf(held.allocated + chunk) - held.pages);
  // Of a request without an end: its windows' peaks, whatever its output.
  const endless = {
    input,
    maxNew: Number.MAX_SAFE_INTEGER - input,
    matched: held.allocated,
    chunk,
  };
  const peaks = requestDemand(rules, endless, "admit");
  return plans.map((plan, index) => {
    if (plan.kind === "state") {
      const tracking = trackingSlots(config);
      return Math.max(0, 1 - held.mainSlots) + Math.max(0, tracking - held.trackSlots);
    }
    if (!plan.isWindow) return left;
    return Math.min(left, Math.max(next, peaks[index]! - held.bound[index]!));
  });
}
