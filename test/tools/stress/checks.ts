// The checks that docs/stress.md promises; each has at least two planted mistakes.
export const CHECKS = [
  "lost_write",
  "unordered_overlap",
  "host_read_after_wait",
  "rank_divergence",
  "cross_dtype_bytes",
  "ledger_leak",
  "capacity_truth",
  "refused_changed_state",
  "digest_drift",
  "stage_divergence",
  "audit",
] as const;
