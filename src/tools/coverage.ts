// What a set of traces exercises. The lines tell the first tables; for steps of relief and cells of the clearance table the
// traces are replayed, since a line does not say which rule a wait came from.
import type { InProcessAdapter } from "../adapter/in-process.js";
import { openTrace } from "../trace/reader.js";
import type { ReaderOptions } from "../trace/reader.js";
import { CoverageCounts } from "./coverage-counts.js";
import type { CoverageTable } from "./coverage-counts.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";
import { replayTrace } from "./replay.js";

/** @public */
export interface Coverage {
  readonly files: readonly string[];
  readonly runs: number;
  readonly operations: number;
  readonly tables: readonly CoverageTable[];
  readonly violations: number; // of the replay: then the last two tables cannot be trusted
}

/** @public */
export interface CoverageOptions extends ToolControl {
  readonly traces: readonly string[];
  readonly reader?: ReaderOptions;
  /** Starts the allocator on which the traces are replayed. */
  readonly start: () => InProcessAdapter;
}

/** Reads and replays traces and says what they exercise. @public */
export async function traceCoverage(options: CoverageOptions): Promise<Coverage> {
  const counts = new CoverageCounts();
  let runs = 0;
  let violations = 0;
  for (const trace of options.traces) {
    runs += await countLines(trace, options, counts);
    const adapter = options.start();
    const { traces: _traces, start: _start, ...control } = options;
    const replay = await replayTrace({ ...control, trace, start: async () => adapter });
    violations += replay.violations.length;
    counts.reach(adapter.takeReached());
  }
  const { operations } = counts;
  return { files: options.traces, runs, operations, tables: counts.tables(), violations };
}

/** Counts the operations of a trace; returns its number of runs. */
async function countLines(
  trace: string,
  options: CoverageOptions,
  counts: CoverageCounts,
): Promise<number> {
  let runs = 0;
  const reader = await openTrace(trace, options.reader ?? {});
  const pulse = new Pulse(options);
  try {
    for (;;) {
      const { lines } = await reader.readBatch();
      if (lines.length === 0) return runs;
      for (const line of lines) {
        if (line.kind === "run") runs += 1;
        else if (line.kind === "op") counts.add(line.op, line);
      }
      if (pulse.count(lines.length)) await pulse.breathe();
    }
  } finally {
    await reader.close();
  }
}
