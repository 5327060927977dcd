// What scenarios exercise while they run, counted as `stats --coverage` counts recorded lines.
import { CoverageCounts } from "./coverage-counts.js";
import type { CoverageTable } from "./coverage-counts.js";
import type { ScenarioWatch } from "./run-scenario.js";

/** Counts of one thread as they travel to another. @internal */
export interface CoveragePart {
  readonly counts: readonly (readonly [string, number])[];
  readonly tellsReached: boolean;
}

/** Counts over any number of scenarios. @internal */
export class RunCoverage {
  #counts = new CoverageCounts();
  #tellsReached = true; // until an implementation does not

  /** Looks on while a scenario runs. */
  readonly watch: ScenarioWatch = {
    answered: (_, answer, { op }) => {
      this.#counts.add(op, answer);
    },
    closed: (adapter) => {
      const reached = adapter.takeReached?.();
      if (reached === undefined) this.#tellsReached = false;
      else this.#counts.reach(reached);
    },
  };

  tables(): readonly CoverageTable[] {
    return this.#counts.tables(this.#tellsReached);
  }

  /** Hands the counts so far over and begins anew. */
  take(): CoveragePart {
    const counts = this.#counts.entries();
    this.#counts = new CoverageCounts();
    return { counts, tellsReached: this.#tellsReached };
  }

  join({ counts, tellsReached }: CoveragePart): void {
    this.#counts.join(new CoverageCounts(counts));
    this.#tellsReached &&= tellsReached;
  }
}
