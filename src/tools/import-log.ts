// Imports a foreign log: every line that its reader gives is written, and what became of the events is told.
import type { ImportCounts, ImportReader } from "../workload/import.js";
import type { TraceWriter } from "../trace/writer.js";
import { Pulse } from "./pulse.js";
import type { ToolControl } from "./pulse.js";

/** @public */
export interface ImportLogOptions extends ToolControl {
  readonly log: ImportReader; // closed by whoever opened it
  readonly writer: TraceWriter; // committed or aborted by whoever made it
}

/** What `import` did. @public */
export interface ImportResult {
  readonly format: string;
  readonly file: string;
  readonly runs: number;
  readonly counts: ImportCounts;
}

/** Writes the run of a log. Throws `InputError` for a log that is not as its format says. @public */
export async function importLog(options: ImportLogOptions): Promise<ImportResult> {
  const { log, writer } = options;
  const pulse = new Pulse(options);
  let runs = 0;
  while (!writer.closed) {
    const { lines } = await log.readBatch();
    if (lines.length === 0) break;
    for (const line of lines) {
      if (line.kind === "run") {
        runs += 1;
        pulse.run = line.run;
      }
      writer.line(line);
    }
    if (pulse.count(lines.length)) await pulse.breathe();
  }
  return { format: log.format, file: log.path, runs, counts: log.counts() };
}
