// chain.flush, chain.relieve.
import type { Answer, Extent, FlushedBand, KvArgs } from "../../base/operations.js";
import type { ChainPlan } from "../alloc/pricing.js";
import type { KvCore } from "../core.js";

/** @internal */
export function chainFlush(core: KvCore): Answer<"chain.flush"> {
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  const flushed: Record<string, FlushedBand> = {};
  for (const [index, result] of core.chain.flush().entries()) {
    flushed[core.chain.bands[index]!.plan.name] = result; // one result a band
  }
  return { ok: flushed };
}

/** @internal */
export function chainRelieve(core: KvCore, args: KvArgs["chain.relieve"]): Answer<"chain.relieve"> {
  const { chain } = core;
  const blocked = core.takeBlocked();
  if (blocked !== null) return { err: blocked };
  const demand = chain.vector(args.demand);
  const priced = chain.price(demand);
  if (!("step" in priced)) return { err: priced };
  const { plan, moves } = chain.relieve(demand, priced);
  return { ok: { ...planAnswer(core, plan, moves), step: plan.step, ...core.ended() } };
}

/** Spans and move counts of a plan, every band named. @internal */
export function planAnswer(
  core: KvCore,
  plan: ChainPlan,
  moves: readonly number[],
): { spans: Record<string, Extent>; moves: Record<string, number> } {
  const spans: Record<string, Extent> = {};
  const counts: Record<string, number> = {};
  for (const band of core.chain.bands) {
    spans[band.plan.name] = plan.spans[band.index]!; // one span a band
    counts[band.plan.name] = moves[band.index]!;
  }
  return { spans, moves: counts };
}
