// Eviction for a demand: as little as it takes, in the order of the cache that holds the pages, and nothing at all
// where even everything would not do. The arena is shared, so another band may give the bytes that one lacks.
import { assert } from "../../base/assert.js";
import type { OperationError } from "../../base/operations.js";
import type { ChainAllocator } from "../alloc/chain.js";

/** A cache whose entries may go; it knows its own order. @internal */
export interface Evictor {
  /** Pages by band index (slots for state) that evicting everything would free. Changes nothing. */
  evictable(): readonly number[];
  /**
   * Evicts the next victim, freeing its pages in the chain. False where none is left.
   * @param short - the band whose ids or index room is short: only an entry that frees some of it helps; null: bytes
   * are short, and the cache's own order decides
   */
  evictNext(short: number | null): boolean;
}

/**
 * Evicts until exactly this take would succeed, asking after each victim. Returns null, or the refusal with which the
 * take still ends: then nothing was evicted.
 *
 * @param couldFit - whether the demand fits once everything is evicted; by default counts tell
 * @internal
 */
export function reclaim(
  chain: ChainAllocator,
  demand: readonly number[],
  evictor: Evictor,
  couldFit: () => boolean = () => chain.fitsReclaimed(demand, evictor.evictable()),
): OperationError | null {
  let priced = chain.priceUnfolded(demand);
  const serves = "step" in priced || couldFit();
  chain.stages?.fold("reclaim", demand, serves);
  if (!serves && !("step" in priced)) return priced;
  while (!("step" in priced)) {
    const hasEvicted = evictor.evictNext(shortBand(chain, priced));
    assert(hasEvicted, "reclaim.evictable_pages_can_be_evicted");
    priced = chain.priceUnfolded(demand);
  }
  return null;
}

/** The band that a refusal says is short of ids or index room; null where bytes are. */
function shortBand(chain: ChainAllocator, refusal: OperationError): number | null {
  if (refusal.code === "refused_ids") return chain.owner.index;
  if (refusal.code === "refused_state") return chain.stateBand?.index ?? null;
  return chain.bandNamed(refusal.limit ?? "")?.index ?? null;
}
