// Refusals and broken contracts: the codes, the rules and what they name.
import type { Demand } from "./values.js";

/** Refusals: what was asked is legal and cannot be had now. @public */
export const REFUSAL_CODES = [
  "refused_plan",
  "refused_floor",
  "refused_backing",
  "refused_rows",
  "refused_ids",
  "refused_state",
  "refused_capacity",
  "deadline",
  "checkpoint_stalled",
  "refused_host",
  "refused_busy",
] as const;
/** @public */
export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** Rules of a broken contract; of several the first of this list answers. @public */
export const INVALID_RULES = [
  "unknown_request",
  "row_in_use",
  "extend_not_at_length",
  "beyond_row",
  "free_of_unbound_page",
  "free_splits_page",
  "free_of_tree_rows",
  "free_outside_reservation",
  "window_segment_bound",
  "window_segment_released",
  "launch_open",
  "take_between_launch_and_record",
  "process_out_of_order",
  "record_of_prebuilt",
  "group_state",
  "lock_not_held",
  "nothing_tracked",
  "no_node_at_len",
  "name_state",
  "resize_in_use",
  "chunk_below_grid",
  "feature_conflict",
  "stage_capacity_agreement",
  "observe_only_read",
] as const;
/** @public */
export type InvalidRule = (typeof INVALID_RULES)[number];

/** A refusal or a broken contract. All fields but `message` are compared. @public */
export interface OperationError {
  readonly code: RefusalCode | "invalid" | "unsupported";
  readonly rule?: string;
  readonly req?: string;
  readonly band?: string;
  readonly page?: number; // the page's number in its row
  readonly need?: number;
  readonly free?: number;
  readonly demand?: Demand;
  readonly limit?: string; // a band's name or "bytes"
  readonly terms?: Readonly<Record<string, number>>;
  readonly transfers?: readonly string[];
  readonly holders?: readonly string[];
  readonly message?: string;
}
