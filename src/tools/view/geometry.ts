// Where the bands of a run can lie: the page grids over one arena, as `boot` or the last resize answered them.
import type { BandGeometry, BootOk } from "../../base/operations.js";
import type { DirectConfig, RunConfig, SubPoolConfig } from "../../base/run-config.js";
import { chainConfig } from "../../kv/config.js";
import { bandPlans, sinkBytes } from "../../kv/memory/geometry.js";

/** What a band's pages are: the owner's, a window's, or state slots. @public */
export type LaneKind = "full" | "window" | "state";

/** One band's page grid: page `p` is bytes `[p * page_bytes, (p + 1) * page_bytes)`. @public */
export interface LaneGeometry extends BandGeometry {
  readonly band: string;
  readonly kind: LaneKind;
}

/** An arena and its bands, low to high (chain order). @public */
export interface ArenaGeometry {
  readonly arena_bytes: number;
  readonly sink_bytes: number; // reserved low bytes, no usable page begins in them
  readonly page_tokens: number; // tokens of a page; a state slot is no tokens
  readonly lanes: readonly LaneGeometry[];
}

/** What a `run` line says of the arena. @public */
export interface RunGeometry {
  readonly config: RunConfig;
  readonly derived?: DirectConfig;
}

/** The direct form of a run's configuration: its own, or what a model form came to. Null where neither is there. @public */
export function directConfigOf(run: RunGeometry): DirectConfig | null {
  if (run.derived !== undefined) return run.derived;
  return "sub_pools" in run.config ? (run.config as DirectConfig) : null;
}

/** The geometry that a configuration gives at `boot`. @param arenaBytes - after a resize, in place of the configured ones
 * @public */
export function geometryOfConfig(
  config: DirectConfig,
  arenaBytes: number = config.arena_bytes,
): ArenaGeometry {
  const chain = { ...chainConfig(config), arenaBytes };
  return {
    arena_bytes: arenaBytes,
    sink_bytes: sinkBytes(chain),
    page_tokens: config.page_size,
    lanes: bandPlans(chain).map((plan) => ({
      band: plan.name,
      kind: plan.isOwner ? "full" : plan.isWindow ? "window" : "state",
      grow: plan.grow,
      unit_bytes: plan.unit_bytes,
      page_bytes: plan.page_bytes,
      pages: plan.pages,
      first_page: plan.first_page,
    })),
  };
}

/**
 * The geometry that an implementation answered to `boot` or `arena.resize`. The answer does not tell kinds: they come from
 * the configuration, and without its direct form from what the answer shows.
 * @param arenaBytes - null: not told, then the end of the last page
 * @public
 */
export function geometryOfAnswer(
  answer: BootOk,
  arenaBytes: number | null,
  run: RunGeometry,
): ArenaGeometry {
  const config = directConfigOf(run);
  const pools = new Map(config?.sub_pools.map((pool) => [pool.name, pool]));
  const bands = Object.entries(answer.bands);
  const ends = bands.map(([, { pages, page_bytes }]) => pages * page_bytes);
  return {
    arena_bytes: arenaBytes ?? Math.max(0, ...ends),
    sink_bytes: answer.sink_bytes,
    page_tokens: run.config.page_size,
    lanes: bands.map(([band, grid]) => ({
      ...grid,
      band,
      kind: kindOf(band, grid, pools.get(band)),
    })),
  };
}

function kindOf(band: string, grid: BandGeometry, pool: SubPoolConfig | undefined): LaneKind {
  if (band === "full") return "full"; // the owner's name in every trace
  if (pool === undefined) return grid.page_bytes === grid.unit_bytes ? "state" : "window";
  return pool.kind === "state" ? "state" : pool.window === undefined ? "full" : "window";
}
