// stages.install, stages.digest.
import type { Answer, KvArgs } from "../../base/operations.js";
import { planStages, StageCapacity } from "../alloc/stage-capacity.js";
import { invalid, type KvCore } from "../core.js";

/** @internal */
export function stagesInstall(
  core: KvCore,
  args: KvArgs["stages.install"],
): Answer<"stages.install"> {
  // An engine at work on pages, or pages fixed for a load, could keep one stage from what all of them granted.
  if (core.net.open.size > 0 || core.host.loads.size > 0)
    return { err: invalid("feature_conflict") };
  const planned = planStages(core.config, args.stages, args.self);
  if ("rule" in planned) return { err: { code: "refused_plan", rule: planned.rule } };
  core.chain.stages = new StageCapacity(args.stages, args.self, planned);
  return { ok: {} };
}

/** The fold of questions, answers and held units since the last digest; a peer's must be the same. @internal */
export function stagesDigest(core: KvCore, args: KvArgs["stages.digest"]): Answer<"stages.digest"> {
  const { stages, bands } = core.chain;
  if (stages === null) return { err: invalid("feature_conflict") };
  const digest = stages.digest(bands.map((band) => band.live));
  if (args.peer !== undefined && args.peer !== digest && core.config.invariants >= 1) {
    return { err: invalid("stage_capacity_agreement") };
  }
  stages.restart();
  return { ok: { digest } };
}
