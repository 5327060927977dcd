// What the page is told of a run beside its maps.
import type { CompareMode } from "../../tools/equality/modes.js";
import type { RunComparison } from "../../tools/outcome.js";

/** @public */
export interface PageReport {
  readonly command: string; // `compare`, `show`, …
  readonly comparison: RunComparison | null; // null with one side
  readonly mode: CompareMode;
  readonly text: string; // the report as the terminal shows it
  readonly reproduce: string | null; // one command
  readonly notes: readonly string[]; // remarks on the whole, one sentence each
  readonly at?: number; // operation at which the page begins, where there is no divergence
}
