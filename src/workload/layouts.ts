// Layouts by name: which sub-pools share the arena. The names stand in run ids and on the command line.
import type {
  CheckpointConfig,
  DirectConfig,
  StageConfig,
  SubPoolConfig,
} from "../base/operations.js";
import type { Prng } from "../base/prng.js";

/** The layouts the generator draws geometries for. @public */
export const LAYOUTS = [
  "full+window",
  "full+state",
  "full+window+state",
  "full+2window",
  "full+2window+state",
] as const;
/** @public */
export type Layout = (typeof LAYOUTS)[number];

/** @public */
export function isLayout(name: string): name is Layout {
  return (LAYOUTS as readonly string[]).includes(name);
}

/** Windows and state of a layout; every layout has the full band. @internal */
export function partsOf(layout: Layout): { readonly windows: number; readonly hasState: boolean } {
  const windows = layout.includes("2window") ? 2 : layout.includes("window") ? 1 : 0;
  return { windows, hasState: layout.endsWith("+state") };
}

/** How large and how crowded a drawn geometry is. Pairs are inclusive ranges. @internal */
export interface GeometryRanges {
  readonly fullPages: readonly [number, number]; // pages of the full band the arena is made for
  readonly stateSlots: readonly [number, number];
  readonly rows: readonly [number, number];
  readonly moveCaps: readonly number[]; // pages
  readonly overlap: boolean;
}

const UNIT_BYTES = [4, 6, 8, 10, 12, 16, 20, 24, 36] as const;

/**
 * Draws a geometry: unit bytes that do not divide one another, windows from a token to a few pages, an arena that
 * ends anywhere. The sub-pools stand in chain order (state, windows from the longest, full). @public
 */
export function layoutConfig(
  layout: Layout,
  pageSize: number,
  ranges: GeometryRanges,
  prng: Prng,
): DirectConfig {
  const { windows, hasState } = partsOf(layout);
  const fullUnit = prng.pick(UNIT_BYTES);
  const fullPage = fullUnit * pageSize;
  const fullPages = prng.between(...ranges.fullPages);
  const pools: SubPoolConfig[] = [];
  let bytes = fullPages * fullPage;
  if (hasState) {
    const unit = prng.between(Math.max(4, fullPage >> 1), fullPage * 3);
    bytes += prng.between(...ranges.stateSlots) * unit;
    pools.push({ name: "mamba", kind: "state", unit_bytes: unit });
  }
  for (const window of drawWindows(windows, pageSize, prng)) {
    const unit = prng.pick(UNIT_BYTES);
    // A window holds less than the full band once rows are long.
    bytes += Math.ceil((fullPages * prng.between(30, 80)) / 100) * unit * pageSize;
    pools.push({ name: `window_${String(window)}`, kind: "mha", window, unit_bytes: unit });
  }
  pools.push({ name: "full", kind: prng.chance(1, 4) ? "mla" : "mha", unit_bytes: fullUnit });
  const isMla = pools.at(-1)?.kind === "mla";
  if (isMla && windows > 0)
    pools[pools.length - 1] = { name: "full", kind: "mha", unit_bytes: fullUnit };
  const arena = sinkBytes(pools, pageSize) + bytes + prng.below(fullPage);
  return {
    page_size: pageSize,
    arena_bytes: arena,
    sub_pools: pools,
    rows: prng.between(...ranges.rows),
    // Longer than all pages of the arena, so that memory runs out before a row does.
    row_tokens: (Math.floor(arena / fullPage) + 4) * pageSize * 2,
    overlap: ranges.overlap,
    move_cap: prng.pick(ranges.moveCaps),
    prefix_sharing: windows > 0 && prng.chance(1, 3),
  };
}

/** Which further parts a drawn configuration has. Percents are of the runs that can have the part. @internal */
export interface FeatureRanges {
  readonly sharingPercent: number;
  readonly checkpointPercent: number; // where states are shared
  readonly hostPercent: number;
  readonly hostPages: readonly [number, number]; // of the full band; the other bands have a share of their own
}

/**
 * The same configuration with prefix sharing, checkpoints of any strategy, host pools, an order of eviction and
 * invariants at level 2, each as drawn. @internal
 */
export function withFeatures(
  config: DirectConfig,
  features: FeatureRanges,
  prng: Prng,
): DirectConfig {
  const windows = config.sub_pools.filter((pool) => pool.window !== undefined);
  const hasState = config.sub_pools.some((pool) => pool.kind === "state");
  const prefix_sharing = prng.chance(features.sharingPercent, 100);
  const isCheckpointing = prng.chance(features.checkpointPercent, 100);
  const checkpoint = drawCheckpoint(config.page_size, prng);
  const hasHost = prng.chance(features.hostPercent, 100);
  const host = drawHost(config, features, prng);
  const isJoint = prng.chance(1, 2);
  const primary = prng.chance(1, 3) && windows.length > 0 ? prng.pick(windows).name : null;
  return {
    ...config,
    prefix_sharing,
    ...(prefix_sharing && hasState && isCheckpointing ? { checkpoint } : {}),
    ...(hasHost ? { host } : {}),
    invariants: prng.chance(1, 3) ? 2 : 1,
    ...(prefix_sharing && isJoint ? { eviction: "joint_lru" } : {}),
    ...(prefix_sharing && primary !== null ? { primary_window: primary } : {}),
  };
}

function drawCheckpoint(pageSize: number, prng: Prng): CheckpointConfig {
  const strategy = prng.pick(["no_buffer", "extra_buffer", "extra_buffer_lazy"] as const);
  const pages = prng.between(1, 4);
  // Mostly whole pages; else the grid is longer than the interval.
  const interval = prng.chance(3, 4) ? pages * pageSize : prng.between(1, pages * pageSize);
  return { strategy, interval };
}

function drawHost(
  config: DirectConfig,
  { hostPages }: FeatureRanges,
  prng: Prng,
): Record<string, number> {
  const host: Record<string, number> = {};
  for (const { name, kind } of config.sub_pools) {
    const pages = prng.between(...hostPages);
    host[name] = kind === "state" ? Math.ceil(pages / 4) : pages;
  }
  return host;
}

/** Another pipeline stage: the same sub-pools with other unit bytes on another arena. @internal */
export function otherStage(config: DirectConfig, prng: Prng): StageConfig {
  const sub_pools = config.sub_pools.map((pool) => ({
    ...pool,
    unit_bytes: pool.unit_bytes * prng.between(1, 3),
  }));
  const more = prng.below(1 + Math.floor(config.arena_bytes / 4));
  return { arena_bytes: config.arena_bytes * prng.between(1, 3) + more, sub_pools };
}

function drawWindows(count: number, pageSize: number, prng: Prng): number[] {
  const lengths: number[] = [];
  while (lengths.length < count) {
    const pages = prng.between(1, 5);
    const length = Math.max(1, pages * pageSize - (prng.chance(1, 2) ? 0 : prng.below(pageSize)));
    if (!lengths.includes(length)) lengths.push(length);
  }
  return lengths.sort((left, right) => right - left);
}

/** The bytes that page 0 of every band reserves (`docs/trace-format.md`, section 2). @internal */
export function sinkBytes(pools: readonly SubPoolConfig[], pageSize: number): number {
  let sink = 0;
  for (const pool of pools) {
    sink = Math.max(sink, pool.kind === "state" ? pool.unit_bytes : pool.unit_bytes * pageSize);
  }
  return sink;
}
