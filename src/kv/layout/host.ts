// Host layouts: every sub-pool's host pages mirror its entry; the two ends may share one backing of page envelopes.
import type { KVStoragePlan } from "../plan/plan.js";
import { pageBytesOf } from "../sizing/floor.js";

/** One host allocation and the bands whose pages it holds. Counts and ids stay a band's own. @public */
export interface HostBacking {
  readonly bands: readonly string[]; // chain order; two where the ends share page envelopes
  readonly layout: string; // as the host cache names its layouts
  readonly pageBytes: readonly number[]; // of each band
}
/** @public */
export interface HostLayout {
  readonly layout: string; // as the host cache names its layouts
  readonly ioBackend: string; // how pages are copied
  readonly isSwitched: boolean; // another layout than was asked for
  readonly backings: readonly HostBacking[];
}

/** Host backings of a plan for the layout and the I/O backend that were asked for. Direct copies assume packed rows,
 * which page-major entries are not: `page_first_direct` becomes `page_first` with kernel copies. @public */
export function hostLayout(plan: KVStoragePlan, wanted: string, ioBackend = "kernel"): HostLayout {
  const isSwitched = wanted === "page_first_direct";
  const layout = isSwitched ? "page_first" : wanted;
  const low = plan.subPools[0];
  const high = plan.subPools.at(-1);
  const sharesEnds =
    low !== undefined &&
    high !== undefined &&
    low !== high &&
    low.kind === "mha" &&
    high.kind === "mha";
  const shared = sharesEnds ? [low, high] : [];
  const alone = plan.subPools.filter((pool) => !shared.includes(pool)).map((pool) => [pool]);
  const groups = sharesEnds ? [shared, ...alone] : alone;
  const backings = groups.map((pools) => ({
    bands: pools.map((pool) => pool.name),
    layout,
    pageBytes: pools.map((pool) => pageBytesOf(plan, pool)),
  }));
  return { layout, ioBackend: isSwitched ? "kernel" : ioBackend, isSwitched, backings };
}
