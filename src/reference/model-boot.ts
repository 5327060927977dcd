// The model form of a configuration: declarations, plan, features, sizes, and the direct form that follows.
import type { CheckpointConfig, DirectConfig, ModelConfig } from "../base/operations.js";
import { attentionRanks, checkFeatures, FEATURE_KEYS, noticesOf } from "./model-features.js";
import { Fields } from "./model-fields.js";
import { cacheElement, type Model, type Surroundings } from "./model-layers.js";
import { readModel } from "./model-read.js";
import { nameOf, type PlannedPool, planPools, refusePlan, windowsOf } from "./model-plan.js";
import { type Sizes, sizesOf } from "./model-sizing.js";
import { checkViews } from "./model-views.js";

/** What a model form comes to. @internal */
export interface Derived {
  readonly config: DirectConfig;
  readonly targets: Readonly<Record<string, number>>;
  readonly notices: readonly string[];
}

const DEFAULT_REQUESTS = 256;
const DEFAULT_CONTEXT_TOKENS = 32768;
const DEFAULT_INTERVAL = 256;

/** Throws `Refusal` for what `boot` refuses, `CandidateError` for what is not supported. @internal */
export function derive(config: ModelConfig): Derived {
  const run = new Fields(config, "configuration");
  const features = new Fields(config["features"] ?? {}, "features", FEATURE_KEYS);
  const ranks = attentionRanks(features);
  const above: Surroundings = {
    kvElement: cacheElement(knownCacheElement(features)),
    temporalElement: features.elementOr("mamba_ssm_dtype", null),
    convElement: features.elementOr("mamba_conv_dtype", null),
    ranks,
  };
  const target = readModel(config.model, "model", above);
  const draft = run.has("draft") ? readModel(config["draft"], "draft", above) : null;
  const checkpoint = config["checkpoint"] as CheckpointConfig | undefined; // the schema's
  const hasCheckpoints = checkpoint !== undefined && checkpoint.strategy !== "no_buffer";
  const wide = planPools(target, draft, { pageSize: config.page_size, hasCheckpoints });
  const contextRanks = run.wholeOr("dcp_size", 1);
  checkFeatures({
    ...{ features, target, draft, pools: wide, pageSize: config.page_size },
    ...{ contextRanks, attentionRanks: ranks, model: config.model },
    requests: config.max_running_requests ?? null,
    primaryWindow: run.textOr("primary_window", null),
  });
  // Each rank keeps its share of a token, and a page has as many more tokens (decision 21).
  const pageSize = config.page_size * contextRanks;
  const pools = wide.map((pool) =>
    pool.kind === "state" ? pool : { ...pool, unitBytes: pool.unitBytes / contextRanks },
  );
  const rowTokens = rowTokensOf(run, target);
  const sizes = sizesOf({
    ...{ pools, pageSize, rowTokens, budgetBytes: config.budget_bytes },
    limit: limitOf(run),
    contextTokens: contextOf(run, target) ?? rowTokens,
    rowStateBytes: run.wholeOr("row_state_bytes", 0, 0),
    scratchBytes: run.wholeOr("scratch_bytes", 0, 0),
    windowRatio: ratioOf(run, "swa_full_tokens_ratio", target.windowRatio ?? 0.8),
    stateRatio: ratioOf(run, "mamba_full_memory_ratio", target.stateRatio ?? 0.9),
    stateSlots: run.wholeOr("max_mamba_cache_size", null, 0),
    slotsOfRequest: slotsOfRequest(checkpoint, run.flag("overlap")),
    totalTokens: run.wholeOr("max_total_tokens", null, 0),
  });
  checkGrid(run, pools, pageSize, checkpoint);
  checkViews(pools, sizes.arenaBytes, pageSize);
  return {
    config: directForm(run, config, pools, sizes, { pageSize, rowTokens, target }),
    targets: targetsOf(sizes),
    notices: noticesOf(features),
  };
}

// FP4 has no element of whole bytes; the features refuse it.
function knownCacheElement(features: Fields): string | null {
  const name = features.textOr("kv_cache_dtype", null);
  return name === "nvfp4" || name === "fp4_mx_block16" ? null : name;
}

function contextOf(run: Fields, target: Model): number | null {
  return run.wholeOr("context_tokens", target.contextTokens, 0);
}

function rowTokensOf(run: Fields, target: Model): number {
  return run.wholeOr("row_tokens", contextOf(run, target) ?? DEFAULT_CONTEXT_TOKENS);
}

function limitOf(run: Fields): number {
  const rows = run.wholeOr("rows", null);
  const asked = run.wholeOr("max_running_requests", rows ?? DEFAULT_REQUESTS, 0);
  return Math.min(asked, rows ?? asked);
}

function ratioOf(run: Fields, key: string, absent: number): number {
  const value = run.raw(key);
  return typeof value === "number" ? value : absent;
}

/** A request's own slot and those that its checkpoints are written to. */
function slotsOfRequest(checkpoint: CheckpointConfig | undefined, hasOverlap: boolean): number {
  if (checkpoint === undefined || checkpoint.strategy === "no_buffer") return 1;
  return checkpoint.strategy === "extra_buffer" && hasOverlap ? 3 : 2;
}

// With window and state, prefill chunks are cut where checkpoints are, so none may be shorter.
function checkGrid(
  run: Fields,
  pools: readonly PlannedPool[],
  pageSize: number,
  checkpoint: CheckpointConfig | undefined,
): void {
  const chunk = run.wholeOr("chunked_prefill_size", null, 0);
  const hasBoth =
    pools.some(({ kind }) => kind === "state") && pools.some(({ window }) => window !== undefined);
  if (chunk === null || !hasBoth || !run.flag("prefix_sharing")) return;
  if (checkpoint === undefined || checkpoint.strategy === "no_buffer") return;
  const interval = checkpoint.interval ?? DEFAULT_INTERVAL;
  let grid = pageSize;
  while (grid % interval !== 0) grid += pageSize;
  if (chunk < grid) refusePlan("chunk_below_grid");
}

function directForm(
  run: Fields,
  config: ModelConfig,
  pools: readonly PlannedPool[],
  sizes: Sizes,
  rows: { readonly pageSize: number; readonly rowTokens: number; readonly target: Model },
): DirectConfig {
  // The keys from `rows` on are the direct form's own, and the schema has checked them.
  const given = config as unknown as Partial<DirectConfig>;
  const kept = ["move_cap", "checkpoint", "host", "invariants", "eviction", "check_lengths"];
  const windows = windowsOf(rows.target.layers);
  const isSeveral = pools.filter(({ window }) => window !== undefined).length > 1;
  const first = given.primary_window ?? (isSeveral ? nameOf(windows[0]) : undefined);
  const policy = new Fields(config["features"] ?? {}, "features").textOr(
    "radix_eviction_policy",
    "",
  );
  return {
    page_size: rows.pageSize,
    arena_bytes: sizes.arenaBytes,
    sub_pools: pools.map(({ name, kind, window, unitBytes }) => ({
      ...{ name, kind, unit_bytes: unitBytes },
      ...(window === undefined ? {} : { window }),
    })),
    rows: sizes.concurrency,
    row_tokens: rows.rowTokens,
    overlap: run.flag("overlap"),
    prefix_sharing: run.flag("prefix_sharing"),
    ...(policy === "joint_lru" ? { eviction: "joint_lru" } : {}),
    ...Object.fromEntries(kept.filter((key) => run.has(key)).map((key) => [key, run.raw(key)])),
    ...(first === undefined ? {} : { primary_window: first }),
  };
}

function targetsOf(sizes: Sizes): Record<string, number> {
  return {
    budget_bytes: sizes.budgetBytes,
    fixed_bytes: sizes.fixedBytes,
    arena_bytes: sizes.arenaBytes,
    concurrency: sizes.concurrency,
    full_tokens: sizes.fullTokens,
    ...Object.fromEntries(sizes.windowTokens.map(({ name, tokens }) => [`${name}_tokens`, tokens])),
    ...(sizes.stateSlots === null ? {} : { mamba_slots: sizes.stateSlots }),
  };
}
