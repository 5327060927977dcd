// What would fit an otherwise empty arena: the bound behind the memory clip and behind `never_fits`.
import { type DemandRules, requestDemand } from "../alloc/demand.js";
import type { ChainAllocator } from "../alloc/chain.js";

/** Whether a request alone fits an empty chain at this chunk limit, its row included. @internal */
export function fitsEmptyChain(
  chain: ChainAllocator,
  rules: DemandRules,
  request: { readonly input: number; readonly maxNew: number; readonly chunk: number | null },
): boolean {
  if (request.input + request.maxNew > rules.config.rowTokens) return false;
  return chain.fitsEmpty(requestDemand(rules, { ...request, matched: 0 }, "ceiling"));
}

/**
 * The most new tokens, up to `maxNew`, with which a request fits an empty chain; null where none fits with 0.
 * More tokens never become feasible, so the largest is found by bisection. @internal
 */
export function maxNewTokens(
  chain: ChainAllocator,
  rules: DemandRules,
  input: number,
  maxNew: number,
  chunk: number | null,
): number | null {
  const fits = (tokens: number): boolean =>
    fitsEmptyChain(chain, rules, { input, maxNew: tokens, chunk });
  if (!fits(0)) return null;
  return largest(0, maxNew, fits);
}

/** The largest integer in `[low, high]` for which a monotone predicate holds; it holds for `low`. @internal */
export function largest(low: number, high: number, holds: (value: number) => boolean): number {
  let known = low;
  let bound = high;
  while (known < bound) {
    const middle = known + Math.ceil((bound - known) / 2);
    if (holds(middle)) known = middle;
    else bound = middle - 1;
  }
  return known;
}
