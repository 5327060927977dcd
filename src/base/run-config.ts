// The configuration of a run, direct and model form. Types only; `docs/trace-format.md`, section 2.
import type { Demand } from "./values.js";

/** One stage's geometry in `stages.install`. @public */
export interface StageConfig {
  readonly page_size?: number;
  readonly arena_bytes: number;
  readonly sub_pools: readonly SubPoolConfig[];
}

/** @public */
export interface SubPoolConfig {
  readonly name: string;
  readonly kind: "state" | "mha" | "mla";
  readonly window?: number | null; // tokens; null: a window of unknown length
  readonly unit_bytes: number; // bytes of one token or state slot over all layers
}
/** @public */
export interface CheckpointConfig {
  readonly strategy: "no_buffer" | "extra_buffer" | "extra_buffer_lazy";
  readonly interval?: number; // tokens
}
/** The direct form of a run's configuration (`docs/trace-format.md`, section 2). @public */
export interface DirectConfig {
  readonly page_size: number; // tokens
  readonly arena_bytes: number;
  readonly sub_pools: readonly SubPoolConfig[];
  readonly rows: number;
  readonly row_tokens: number;
  readonly overlap?: boolean;
  readonly move_cap?: number; // pages a band and opportunistic flush, default 4096
  readonly prefix_sharing?: boolean;
  readonly checkpoint?: CheckpointConfig;
  readonly host?: Demand; // host pages per band
  readonly invariants?: 0 | 1 | 2; // default 1
  readonly eviction?: "lru" | "joint_lru";
  readonly primary_window?: string;
  readonly check_lengths?: boolean;
}
/** The model form: goes through declarations, plan and sizing. @public */
export interface ModelConfig {
  readonly model: Readonly<Record<string, unknown>>;
  readonly page_size: number;
  readonly budget_bytes: number;
  readonly max_running_requests?: number;
  readonly [key: string]: unknown;
}
/** @public */
export type RunConfig = DirectConfig | ModelConfig;
