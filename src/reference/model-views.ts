// What kernels need of the arena: usable pages, row ids below 2^31, blocks on whole elements (allocator.md 1.4, 1.5).
import { type PlannedPool, refusePlan } from "./model-plan.js";
import { sinkBytesOf } from "./model-sizing.js";

const KERNEL_IDS = 2 ** 31;

/** Refuses with `no_usable_page`, `misaligned_view` or `kernel_id_space`. @internal */
export function checkViews(
  pools: readonly PlannedPool[],
  arenaBytes: number,
  pageSize: number,
): void {
  const sink = sinkBytesOf(pools, pageSize);
  for (const { name, kind, unitBytes, layerCount, views } of pools) {
    const tokens = kind === "state" ? 1 : pageSize;
    const pages = Math.floor(Math.floor(arenaBytes / unitBytes) / tokens);
    const firstPage = Math.ceil(Math.ceil(sink / unitBytes) / tokens);
    if (pages <= firstPage) refusePlan("no_usable_page", name);
    if (
      views.some(({ base, elementBytes }) => (base % elementBytes) + (unitBytes % elementBytes) > 0)
    )
      refusePlan("misaligned_view", name);
    // A latent row is one contiguous view over all layers, so its ids count the layers too.
    const rows = pages * tokens * (kind === "mla" ? layerCount : 1);
    if (rows > KERNEL_IDS) refusePlan("kernel_id_space", name);
  }
}
