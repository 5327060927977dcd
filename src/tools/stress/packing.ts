// Whether any layout holds a demand, from counts of pages alone: it shares nothing with the allocator's pricing.
import { countOf } from "../../base/extents.js";
import type { BandGeometry, DirectConfig } from "../../base/operations.js";
import type { BandState, State } from "../../base/state.js";
import { chainConfig } from "../../kv/config.js";
import { bandPlans } from "../../kv/memory/geometry.js";
import { packs } from "../audit/packing.js";
import type { WrittenStages } from "./written.js";

/** Whether the run's own arena has a layout for a demand by band; free ids count as room. @internal */
export function packsOwn(
  config: DirectConfig,
  bands: Readonly<Record<string, BandGeometry>>,
  state: State,
  demand: readonly number[],
): boolean {
  const minting = minters(config);
  const counts = Object.entries(bands).map(([name, grid], index) => {
    const { live, vacated, free_ids } = state[name] as BandState; // what stands under a band's name
    const left = vacated.reduce((sum, entry) => sum + countOf(entry.pages), 0);
    const room = grid.pages - grid.first_page - live - left;
    const ids = minting.has(name) ? countOf(free_ids) : Infinity;
    return { live, wanted: demand[index] ?? 0, room: Math.min(room, ids) };
  });
  return packs(Object.values(bands), counts);
}

/** Whether every installed stage has one: by its own grids and the counts that all of them share. @internal */
export function packsOnStages(
  config: DirectConfig,
  { stages }: WrittenStages,
  bands: Readonly<Record<string, BandGeometry>>,
  state: State,
  demand: readonly number[],
): boolean {
  const minting = minters(config);
  return stages.every(({ arena_bytes, sub_pools }) => {
    const plans = bandPlans(chainConfig({ ...config, arena_bytes, sub_pools: [...sub_pools] }));
    const counts = plans.map(({ name, pages, first_page }, index) => {
      const { live, free_ids } = state[name] as BandState; // the stages have the same bands
      const own = bands[name]!; // the same
      const idsInUse = own.pages - own.first_page - countOf(free_ids);
      const ids = minting.has(name) ? pages - first_page - idsInUse : Infinity;
      const room = Math.min(pages - first_page - live, ids);
      return { live, wanted: demand[index] ?? 0, room };
    });
    return packs(plans, counts);
  });
}

/** The bands that mint ids of their own: the owner and the state band. */
function minters({ sub_pools }: DirectConfig): ReadonlySet<string> {
  const minting = sub_pools.filter(({ kind, window }) => kind === "state" || window === undefined);
  return new Set(minting.map(({ name }) => name));
}
