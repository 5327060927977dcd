// Specs of a run's configuration.
import type {
  CheckpointConfig,
  DirectConfig,
  ModelConfig,
  StageConfig,
  SubPoolConfig,
} from "../base/operations.js";
import { FIXED_COMPONENTS } from "../base/operations.js";
import type { Spec } from "./fields.js";
import {
  ANYTHING,
  BOOLEAN,
  BYTES,
  COUNT,
  PAGES,
  RATIO,
  TOKENS,
  integer,
  list,
  map,
  nullable,
  object,
  optional,
  text,
  word,
} from "./fields.js";

/** One sub-pool. @public */
export const SUB_POOL: Spec<SubPoolConfig> = object({
  name: text("band"),
  kind: word("state", "mha", "mla"),
  window: optional(nullable(integer("tokens", 1))),
  unit_bytes: integer("bytes", 1),
});

const PAGE_TOKENS = integer("tokens", 1);

/** One stage's geometry. @public */
export const STAGE_CONFIG: Spec<StageConfig> = object({
  page_size: optional(PAGE_TOKENS),
  arena_bytes: BYTES,
  sub_pools: list(SUB_POOL),
});

const CHECKPOINT: Spec<CheckpointConfig> = object({
  strategy: word("no_buffer", "extra_buffer", "extra_buffer_lazy"),
  interval: optional(integer("tokens", 1)),
});

const ROWS = integer("rows", 1);
const ROW_TOKENS = integer("tokens", 1);

// What both forms may set.
const SHARED = {
  overlap: optional(BOOLEAN),
  move_cap: optional(PAGES),
  prefix_sharing: optional(BOOLEAN),
  checkpoint: optional(CHECKPOINT),
  host: optional(map("band", PAGES)),
  invariants: optional(integer("level", 0, 2)),
  eviction: optional(word("lru", "joint_lru")),
  primary_window: optional(text("band")),
  check_lengths: optional(BOOLEAN),
};

/** The direct form of a configuration: the sub-pools as they are. @public */
export const DIRECT_CONFIG: Spec<DirectConfig> = object({
  page_size: PAGE_TOKENS,
  arena_bytes: BYTES,
  sub_pools: list(SUB_POOL),
  rows: ROWS,
  row_tokens: ROW_TOKENS,
  ...SHARED,
}) as Spec<DirectConfig>; // invariants: the spec says 0 to 2, the type 0 | 1 | 2

/** The model form: a model, a budget, and how it is served. @public */
export const MODEL_CONFIG: Spec<ModelConfig> = object({
  model: map("any", ANYTHING),
  page_size: PAGE_TOKENS,
  budget_bytes: BYTES,
  max_running_requests: optional(COUNT),
  max_total_tokens: optional(TOKENS),
  swa_full_tokens_ratio: optional(RATIO),
  mamba_full_memory_ratio: optional(RATIO),
  max_mamba_cache_size: optional(COUNT),
  mem_fraction: optional(RATIO),
  chunked_prefill_size: optional(TOKENS),
  context_tokens: optional(TOKENS),
  draft: optional(ANYTHING),
  dcp_size: optional(integer("ranks", 1)),
  scratch_bytes: optional(BYTES),
  row_state_bytes: optional(BYTES),
  features: optional(ANYTHING),
  rows: optional(ROWS),
  row_tokens: optional(ROW_TOKENS),
  ...SHARED,
});

/** Words that stand where a band's name may stand, so that no band may have them. @public */
export const RESERVED_BAND_NAMES: readonly string[] = [
  ...FIXED_COMPONENTS,
  "all",
  "bytes",
  "virtual",
  "slots",
  "step",
  "ended",
];
