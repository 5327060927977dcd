// What the allocator writes into a state beyond the format, as far as the harness reads it.
import type { StageConfig } from "../../base/operations.js";
import type { State } from "../../base/state.js";

/** Installed pipeline stages. @internal */
export interface WrittenStages {
  readonly stages: readonly StageConfig[];
  readonly self: number;
}

/** The stages that a state was written with, null without any. @internal */
export function stagesOf(state: State): WrittenStages | null {
  const { stages } = state.forwards["x_more"] as { readonly stages: WrittenStages | null }; // as it was written
  return stages;
}
