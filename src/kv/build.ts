// `deriveConfig`: from the model form to the direct form. Declarations, plan, features, sizes, checks of the grid, in
// that order; the first refusal answers and nothing has been built.
import type { DirectConfig, ModelConfig, RunConfig, SubPoolConfig } from "../base/operations.js";
import type { BuildOptions } from "./build-options.js";
import { lengthsOf, readBuildOptions, slotsPerRequest } from "./build-options.js";
import { chainConfig } from "./config.js";
import { declarationsOf } from "./decl/declarations.js";
import type { ModelDeclarations } from "./decl/model.js";
import type { KVLayerDecl } from "./decl/types.js";
import { checkFeatures } from "./features/check.js";
import type { Notice } from "./features/tables.js";
import { arenaLayout } from "./layout/arena.js";
import type { HostLayout } from "./layout/host.js";
import { hostLayout } from "./layout/host.js";
import { alignmentFaults, KERNEL_ID_LIMIT } from "./layout/views.js";
import { bandPlans } from "./memory/geometry.js";
import type { KVStoragePlan } from "./plan/plan.js";
import { planStorage } from "./plan/plan.js";
import type { BuildRefusal, PlanRefusal } from "./plan/refusals.js";
import { planRefused } from "./plan/refusals.js";
import type { Sizing, SizingOptions } from "./sizing/size.js";
import { sizePlan } from "./sizing/size.js";

/** A model form that can be served. @public */
export interface Derived {
  readonly derived: DirectConfig;
  readonly targets: Readonly<Record<string, number>>; // boot targets by name, the unit last
  readonly notices: readonly Notice[];
  readonly model: ModelDeclarations;
  readonly plan: KVStoragePlan;
  readonly sizing: Sizing;
  readonly sizingOptions: SizingOptions;
  readonly host: HostLayout;
}
/** @public */
export type DerivedOrRefusal = Derived | { readonly refusal: BuildRefusal };

/** Whether a configuration goes through declarations, plan and sizing. @public */
export function isModelConfig(config: RunConfig): config is ModelConfig {
  return "model" in config;
}

/**
 * The direct form of a model form with its boot targets and notices, or the refusal that `boot` answers
 * (`refused_plan` with a rule, `refused_floor` with terms). Throws `InputError` (`config`) where a field is missing or
 * wrong or a preset unknown. @public
 */
export function deriveConfig(config: ModelConfig): DerivedOrRefusal {
  const options = readBuildOptions(config);
  const declared = declarationsOf(config.model, options.declarations);
  if ("refusal" in declared) return declared;
  const draft = draftDecls(options);
  if ("refusal" in draft) return draft;
  const { model } = declared;
  const primaryWindow = options.fields.text("primary_window");
  const planned = planStorage([...model.decls, ...draft.decls], {
    pageTokens: options.pageTokens,
    contextRanks: options.contextRanks,
    ...(primaryWindow === undefined ? {} : { primaryWindow }),
  });
  if ("refusal" in planned) return planned;
  const { plan } = planned;
  const checked = checkFeatures({
    features: options.features,
    plan,
    model: config.model,
    pageTokens: options.pageTokens,
    isLocalAttention: model.isLocalAttention,
    chunkedPrefillTokens: options.fields.optionalInteger("chunked_prefill_size", 0),
    checkpointTokens: options.checkpointTokens,
    prefixSharing: options.prefixSharing,
  });
  if ("refusal" in checked) return checked;
  if (options.runningRequests === 0)
    return {
      refusal: planRefused("feature_conflict", "max_running_requests is 0: nothing could run"),
    };
  const sizingOptions = sizingOptionsOf(options, model);
  const sized = sizePlan(plan, sizingOptions);
  if ("refusal" in sized) return sized;
  const { sizing } = sized;
  const derived = directForm(options, plan, sizing, sizingOptions.rowTokens);
  const refusal = gridRefusal(derived) ?? viewRefusal(plan, sizing.arenaBytes);
  if (refusal !== null) return { refusal };
  const { notices } = checked;
  const targets = targetsOf(plan, sizing);
  const { word } = options.features;
  const host = hostLayout(
    plan,
    word("hicache_mem_layout") ?? "layer_first",
    word("hicache_io_backend") ?? "kernel",
  );
  return { derived, targets, notices, model, plan, sizing, sizingOptions, host };
}

// `draft` is a model in the same forms as `model`; its layers live inside the target's entries.
function draftDecls({
  fields,
  declarations,
}: BuildOptions): { readonly decls: readonly KVLayerDecl[] } | { readonly refusal: PlanRefusal } {
  const draft = fields.raw("draft");
  if (draft === undefined) return { decls: [] };
  // declarationsOf checks what it reads
  const declared = declarationsOf(draft as Readonly<Record<string, unknown>>, {
    ...declarations,
    role: "draft",
  });
  return "refusal" in declared ? declared : { decls: declared.model.decls };
}

function sizingOptionsOf(options: BuildOptions, model: ModelDeclarations): SizingOptions {
  const { fields } = options;
  const memoryFraction = fields.optionalNumber("mem_fraction", 0, 1);
  const maxTotalTokens = fields.optionalInteger("max_total_tokens", 0);
  const stateSlots = fields.optionalInteger("max_mamba_cache_size", 0);
  return {
    ...lengthsOf(options, model.contextTokens),
    budgetBytes: options.budgetBytes,
    maxRunningRequests: options.runningRequests,
    rowStateBytes: fields.optionalInteger("row_state_bytes", 0) ?? 0,
    scratchBytes: fields.optionalInteger("scratch_bytes", 0) ?? 0,
    windowRatio: fields.optionalNumber("swa_full_tokens_ratio", 0, 1) ?? model.windowRatio,
    stateShare: fields.optionalNumber("mamba_full_memory_ratio", 0, 1) ?? model.stateShare,
    slotsPerRequest: slotsPerRequest(options),
    ...(memoryFraction === undefined ? {} : { memoryFraction }),
    ...(maxTotalTokens === undefined ? {} : { maxTotalTokens }),
    ...(stateSlots === undefined ? {} : { stateSlots }),
  };
}

/** The sub-pools of a plan in the direct form. Under decode context parallelism the page is as wide as all ranks'
 * rows, and a token's bytes are this rank's share of them, so that a page's bytes stay those of its rows. @public */
export function directSubPools(plan: KVStoragePlan): readonly SubPoolConfig[] {
  return plan.subPools.map(({ name, kind, lifetime, rankUnitBytes }) =>
    lifetime.kind === "window"
      ? { name, kind, window: lifetime.tokens, unit_bytes: rankUnitBytes }
      : { name, kind, unit_bytes: rankUnitBytes },
  );
}

const PASSED_ON = ["move_cap", "host", "invariants", "check_lengths"] as const;

function directForm(
  options: BuildOptions,
  plan: KVStoragePlan,
  sizing: Sizing,
  rowTokens: number,
): DirectConfig {
  const { fields, checkpoint } = options;
  const bands = plan.subPools.map((pool) => pool.name);
  fields.object("host")?.onlyKeys(bands);
  const passed = PASSED_ON.filter((key) => fields.has(key)).map((key) => [key, fields.raw(key)]);
  const policy = options.features.word("radix_eviction_policy");
  const eviction = fields.text("eviction") ?? (policy === "joint_lru" ? policy : undefined);
  // The primary window is said wherever there is a choice.
  const windows = plan.subPools.filter((pool) => pool.lifetime.kind === "window").length;
  return {
    page_size: plan.pageTokens,
    arena_bytes: sizing.arenaBytes,
    sub_pools: directSubPools(plan),
    rows: sizing.concurrency,
    row_tokens: rowTokens,
    overlap: options.overlap,
    ...(Object.fromEntries(passed) as Partial<DirectConfig>), // checked by the reader of the run line
    prefix_sharing: options.prefixSharing,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(eviction === undefined ? {} : { eviction: eviction as "lru" | "joint_lru" }), // checked likewise
    ...(windows > 1 && plan.primaryWindow !== null ? { primary_window: plan.primaryWindow } : {}),
  };
}

function targetsOf(plan: KVStoragePlan, sizing: Sizing): Record<string, number> {
  const targets: Record<string, number> = {
    budget_bytes: sizing.budgetBytes,
    fixed_bytes: sizing.fixedBytes,
    arena_bytes: sizing.arenaBytes,
    concurrency: sizing.concurrency,
    full_tokens: sizing.tokens,
  };
  for (const [name, tokens] of Object.entries(sizing.windowTokens))
    targets[`${name}_tokens`] = tokens;
  if (plan.subPools.some((pool) => pool.kind === "state"))
    targets["mamba_slots"] = sizing.stateSlots;
  return targets;
}

// Sinks and grids may leave a band without a single page.
function gridRefusal(derived: DirectConfig): PlanRefusal | null {
  for (const band of bandPlans(chainConfig(derived))) {
    if (band.pages > band.first_page) continue;
    return planRefused(
      "no_usable_page",
      `${band.name}: ${band.pages} pages of ${band.page_bytes} bytes, the first ${band.first_page} of them reserved`,
      band.name,
    );
  }
  return null;
}

function viewRefusal(plan: KVStoragePlan, arenaBytes: number): PlanRefusal | null {
  const layout = arenaLayout(plan, arenaBytes);
  for (const entry of layout.entries) {
    const [fault] = alignmentFaults(entry);
    if (fault === undefined) continue;
    const { block, layer, what, bytes, elementBytes } = fault;
    return planRefused(
      "misaligned_view",
      `${entry.name}: ${what} of ${block} of layer ${layer}, ${bytes} bytes, is no multiple of its ${elementBytes}-byte elements`,
      entry.name,
    );
  }
  const wide = layout.views.find((views) => views.kernelIds > KERNEL_ID_LIMIT);
  return wide === undefined
    ? null
    : planRefused(
        "kernel_id_space",
        `${wide.name}: ${wide.kernelIds} kernel ids, 2^31 is the most`,
        wide.name,
      );
}
