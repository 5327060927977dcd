// The run configuration with its defaults, in chain order. Pure reading of the direct form; the model form is turned
// into it by planning and sizing.
import type { DirectConfig, SubPoolConfig } from "../base/operations.js";

/** A configuration with every default filled in; `subPools` low to high in the arena. @internal */
export interface ChainConfig {
  readonly pageSize: number; // tokens
  readonly arenaBytes: number;
  readonly subPools: readonly SubPoolConfig[]; // chain order
  readonly rows: number;
  readonly rowTokens: number;
  readonly overlap: boolean;
  readonly moveCapPages: number; // a band and opportunistic flush
  readonly prefixSharing: boolean;
  readonly checkpoint: DirectConfig["checkpoint"] | null;
  readonly invariants: 0 | 1 | 2;
  readonly checkLengths: boolean;
}

/** Fills in the defaults and derives the chain order: state, windows from the longest, full. @internal */
export function chainConfig(config: DirectConfig): ChainConfig {
  return {
    pageSize: config.page_size,
    arenaBytes: config.arena_bytes,
    subPools: [...config.sub_pools].sort((left, right) => lifetimeRank(left) - lifetimeRank(right)),
    rows: config.rows,
    rowTokens: config.row_tokens,
    overlap: config.overlap ?? false,
    moveCapPages: config.move_cap ?? 4096,
    prefixSharing: config.prefix_sharing ?? false,
    checkpoint: config.checkpoint ?? null,
    invariants: config.invariants ?? 1,
    checkLengths: config.check_lengths ?? false,
  };
}

// Ascending in chain order. A window of unknown length outlives every known one, so it ranks longest.
function lifetimeRank(pool: SubPoolConfig): number {
  if (pool.kind === "state") return -2 * Number.MAX_SAFE_INTEGER;
  if (pool.window === undefined) return 1;
  return pool.window === null ? -Number.MAX_SAFE_INTEGER : -pool.window;
}

/** Why a direct configuration cannot be planned, or null. Rules as in `refused_plan`. @internal */
export function planRefusal(
  config: DirectConfig,
): { readonly rule: string; readonly band?: string } | null {
  const owners = config.sub_pools.filter(
    (pool) => pool.kind !== "state" && pool.window === undefined,
  );
  if (owners.length === 0) return { rule: "no_full_owner" };
  const seen = new Set<string>();
  for (const pool of config.sub_pools) {
    const lifetime = pool.kind === "state" ? "state" : `window ${String(pool.window)}`;
    if (seen.has(lifetime)) return { rule: "two_geometries", band: pool.name };
    seen.add(lifetime);
  }
  return null;
}
