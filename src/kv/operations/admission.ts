// admit.pass, ask.max_new_tokens, ask.estimates.
import type { Answer, KvArgs } from "../../base/operations.js";
import { maxNewTokens } from "../admission/empty-chain.js";
import { PrefillBudget } from "../admission/prefill-budget.js";
import { TreeCredit } from "../cache/tree-credit.js";
import { chunkGrid, type DemandRules } from "../alloc/demand.js";
import { estimateOf } from "../alloc/estimates.js";
import { invalid, type KvCore } from "../core.js";

function rulesOf(core: KvCore): DemandRules {
  return { config: core.config, plans: core.chain.bands.map((band) => band.plan) };
}

/** @internal */
export function admitPass(core: KvCore, args: KvArgs["admit.pass"]): Answer<"admit.pass"> {
  const grid = chunkGrid(rulesOf(core));
  if (args.chunk !== undefined && args.chunk < grid && hasGrid(core))
    return { err: invalid("chunk_below_grid") };
  const reserve = core.chain.vector(args.reserve ?? {});
  const budget = new PrefillBudget(core, args.chunk ?? null, reserve, new TreeCredit(core.tree));
  return { ok: budget.pass(args.queue) };
}

/** Chunks are cut on the checkpoint grid only where windows and checkpointed states meet. */
function hasGrid(core: KvCore): boolean {
  return chunkGrid(rulesOf(core)) > core.config.pageSize;
}

/** @internal */
export function askMaxNewTokens(
  core: KvCore,
  args: KvArgs["ask.max_new_tokens"],
): Answer<"ask.max_new_tokens"> {
  const tokens = maxNewTokens(
    core.chain,
    rulesOf(core),
    args.input,
    args.max_new,
    args.chunk ?? null,
  );
  return { ok: { tokens } };
}

/** Observer figures. Reading them inside a decision is refused at invariants level 2; at level 1 the first such answer
 * of a run says so. One question reads every estimate, so once a run is once an estimate. @internal */
export function askEstimates(core: KvCore, args: KvArgs["ask.estimates"]): Answer<"ask.estimates"> {
  const { inside } = args;
  if (inside !== undefined && core.config.invariants === 2)
    return { err: invalid("observe_only_read") };
  const estimates: Record<string, ReturnType<typeof estimateOf>> = {};
  for (const band of core.chain.bands)
    estimates[band.plan.name] = estimateOf(core.chain, band.index);
  if (inside === undefined || core.config.invariants === 0 || core.hasToldEstimates)
    return { ok: estimates };
  core.hasToldEstimates = true;
  const message = `observe_only_read: estimates are for observers, but the decision ${JSON.stringify(inside)} reads them`;
  return { ok: estimates, message };
}
